# make install, make uninstall, make deb, make rpm and make tarball: programs, library,
# pages, the completion of shells, and what build systems ask for.

BASHDIR   ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR    ?= $(PREFIX)/share/zsh/site-functions
FISHDIR   ?= $(PREFIX)/share/fish/vendor_completions.d
CMAKEDIR  ?= $(PREFIX)/share/cmake/fxt
PKGDIR    ?= $(PREFIX)/share/pkgconfig
INCLUDEDIR ?= $(PREFIX)/include

define newline


endef

# What is installed, a line each: package, mode or "link", file or the link's contents, place.
define installed
fxt 755 $(O)/fxtrun $(BINDIR)/fxtrun
fxt 755 $(O)/fxtctl $(BINDIR)/fxtctl
fxt 755 $(O)/fxt $(BINDIR)/fxt
fxt 755 $(O)/fxt-cc $(BINDIR)/fxt-cc
fxt link fxt-cc $(BINDIR)/fxt-c++
$(foreach name,$(compilers),fxt link ../../../bin/fxt-cc $(LIBDIR)/fxt/compilers/$(name)$(newline))fxt 644 $(O)/libfxtagent.so $(LIBDIR)/libfxtagent.so
$(if $(wildcard $(O)/libfxtmpi.so),fxt 644 $(O)/libfxtmpi.so $(LIBDIR)/libfxtmpi.so$(newline))$(if $(wildcard $(O)/fxt-gather),fxt 755 $(O)/fxt-gather $(BINDIR)/fxt-gather$(newline))$(foreach page,$(pages),fxt 644 $(page) $(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page))$(newline))fxt link fxt-cc.1 $(MANDIR)/man1/fxt-c++.1
fxt 644 completion/fxt.bash $(BASHDIR)/fxt
fxt link fxt $(BASHDIR)/fxtrun
fxt link fxt $(BASHDIR)/fxtctl
fxt 644 completion/_fxt $(ZSHDIR)/_fxt
fxt 644 completion/fxt.fish $(FISHDIR)/fxt.fish
fxt link fxt.fish $(FISHDIR)/fxtrun.fish
fxt link fxt.fish $(FISHDIR)/fxtctl.fish
fxt 644 LICENSE $(DOCDIR)/LICENSE
fxt 644 README.md $(DOCDIR)/README.md
fxt-dev 644 include/fxt/trace.h $(INCLUDEDIR)/fxt/trace.h
fxt-dev 644 include/fxt/markers.h $(INCLUDEDIR)/fxt/markers.h
fxt-dev 644 wrapper/cmake/fxtConfig.cmake $(CMAKEDIR)/fxtConfig.cmake
fxt-dev 644 $(O)/fxtConfigVersion.cmake $(CMAKEDIR)/fxtConfigVersion.cmake
fxt-dev 644 $(O)/fxt.pc $(PKGDIR)/fxt.pc
endef
export installed

$(O)/fxtConfigVersion.cmake: wrapper/cmake/fxtConfigVersion.cmake.in Makefile
	$(Q)sed 's/@VERSION@/$(VERSION)/' $< >$@
$(O)/fxt.pc: wrapper/fxt.pc.in Makefile
	$(Q)sed 's/@VERSION@/$(VERSION)/; s/@CFLAGS@/$(if $(findstring x86_64,$(shell $(CC) -dumpmachine)),-fpatchable-function-entry=5,-finstrument-functions)/' $< >$@

# PACKAGE: only the files of one.
.PHONY: install uninstall
install: all $(O)/fxtConfigVersion.cmake $(O)/fxt.pc
	$(Q)echo "$$installed" | while read -r package mode file place; do \
	  [ $${PACKAGE:-$$package} = $$package ] || continue; \
	  echo "  INSTALL	$(DESTDIR)$$place"; \
	  case $$mode in \
	  link) install -d "$$(dirname "$(DESTDIR)$$place")" && ln -sf "$$file" "$(DESTDIR)$$place" ;; \
	  *) install -D -m $$mode "$$file" "$(DESTDIR)$$place" ;; \
	  esac || exit 1; done
uninstall:
	$(Q)echo "$$installed" | while read -r package mode file place; do \
	  echo "  REMOVE	$(DESTDIR)$$place" && rm -f "$(DESTDIR)$$place" || exit 1; done
	$(Q)rmdir "$(DESTDIR)$(DOCDIR)" "$(DESTDIR)$(CMAKEDIR)" "$(DESTDIR)$(INCLUDEDIR)/fxt" "$(DESTDIR)$(LIBDIR)/fxt/compilers" "$(DESTDIR)$(LIBDIR)/fxt" 2>/dev/null || true

# $(O)/fxt_VERSION_ARCH.deb and $(O)/fxt-dev_VERSION_ARCH.deb
.PHONY: deb
deb: all
	$(Q)MAKE=$(MAKE) tools/deb $(O) $(VERSION)

# The same as packages of RPM, fxt and fxt-devel
.PHONY: rpm
rpm: all
	$(Q)MAKE=$(MAKE) tools/rpm $(O) $(VERSION)

# A directory that runs from anywhere: fxtrun finds the agent in ../lib.
tarball := fxt-$(VERSION)-$(shell uname -m)
.PHONY: tarball
tarball: all
	$(Q)rm -rf $(O)/tarball && $(MAKE) --no-print-directory install PREFIX=/$(tarball) DESTDIR=$(O)/tarball >/dev/null
	$(Q)find $(O)/tarball -type f \( -path '*/bin/*' -o -name '*.so' \) -exec strip --strip-unneeded {} +
	$(Q)tar -C $(O)/tarball --sort=name --owner=0 --group=0 --numeric-owner -cf - $(tarball) | gzip -9n >$(O)/$(tarball).tar.gz
	$(Q)rm -rf $(O)/tarball && echo $(O)/$(tarball).tar.gz
