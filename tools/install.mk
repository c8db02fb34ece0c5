# make install and make uninstall: programs, library, pages, and the completion of shells.

BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d

# What is installed, a line each: mode or "link", file or the link's contents, place.
define installed
755 $(O)/fxtrun $(BINDIR)/fxtrun
755 $(O)/fxtctl $(BINDIR)/fxtctl
755 $(O)/fxt $(BINDIR)/fxt
755 $(O)/fxt-cc $(BINDIR)/fxt-cc
link fxt-cc $(BINDIR)/fxt-c++
644 $(O)/libfxtagent.so $(LIBDIR)/libfxtagent.so
644 doc/fxtrun.1 $(MANDIR)/fxtrun.1
644 doc/fxtctl.1 $(MANDIR)/fxtctl.1
644 doc/fxt.1 $(MANDIR)/fxt.1
644 doc/fxt-cc.1 $(MANDIR)/fxt-cc.1
link fxt-cc.1 $(MANDIR)/fxt-c++.1
644 completion/fxt.bash $(BASHDIR)/fxt
link fxt $(BASHDIR)/fxtrun
link fxt $(BASHDIR)/fxtctl
644 completion/_fxt $(ZSHDIR)/_fxt
644 completion/fxt.fish $(FISHDIR)/fxt.fish
link fxt.fish $(FISHDIR)/fxtrun.fish
link fxt.fish $(FISHDIR)/fxtctl.fish
644 LICENSE $(DOCDIR)/LICENSE
644 README.md $(DOCDIR)/README.md
endef
export installed

.PHONY: install uninstall
install: all
	$(Q)echo "$$installed" | while read -r mode file place; do \
	  echo "  INSTALL	$(DESTDIR)$$place"; \
	  case $$mode in \
	  link) install -d "$$(dirname "$(DESTDIR)$$place")" && ln -sf "$$file" "$(DESTDIR)$$place" ;; \
	  *) install -D -m $$mode "$$file" "$(DESTDIR)$$place" ;; \
	  esac || exit 1; done
uninstall:
	$(Q)echo "$$installed" | while read -r mode file place; do \
	  echo "  REMOVE	$(DESTDIR)$$place" && rm -f "$(DESTDIR)$$place" || exit 1; done
	$(Q)rmdir "$(DESTDIR)$(DOCDIR)" 2>/dev/null || true
