# find_package(fxt): builds targets so that fxtrun records their calls.
#
#   find_package(fxt REQUIRED)
#   fxt_instrument(my_program my_library)
#
# fxt_instrument() adds the option that fxt-cc adds, for C and C++, to each target. Options
# of the target itself come later and win. FXT_INSTRUMENT chooses the kind of entries as it
# does for fxt-cc: prepared, hooks, xray or none. fxt::fxtrun and fxt::fxt are the programs.

set(FXT_INSTRUMENT "" CACHE STRING "Kind of entries: prepared, hooks, xray or none; by default the one for the processor")
set_property(CACHE FXT_INSTRUMENT PROPERTY STRINGS "" prepared hooks xray none)

foreach(program fxtrun fxtctl fxt)
	if(NOT TARGET fxt::${program})
		add_executable(fxt::${program} IMPORTED)
		set_target_properties(fxt::${program} PROPERTIES
			IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/../../../bin/${program}")
	endif()
endforeach()

function(fxt_instrument)
	set(kind "${FXT_INSTRUMENT}")
	if(kind STREQUAL "" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64|i.86)$")
		set(kind prepared)
	elseif(kind STREQUAL "")
		set(kind hooks)
	endif()
	set(clang Clang,AppleClang,IntelLLVM)
	foreach(target IN LISTS ARGN)
		if(NOT TARGET ${target})
			message(FATAL_ERROR "fxt_instrument: there is no target ${target}")
		endif()
		foreach(language C CXX)
			set(is_language $<COMPILE_LANGUAGE:${language}>)
			set(is_gcc $<COMPILE_LANG_AND_ID:${language},GNU>)
			set(is_clang $<COMPILE_LANG_AND_ID:${language},${clang}>)
			if(kind STREQUAL "prepared")
				target_compile_options(${target} BEFORE PRIVATE
					$<${is_language}:-fpatchable-function-entry=5>)
			elseif(kind STREQUAL "hooks")
				target_compile_options(${target} BEFORE PRIVATE
					$<${is_gcc}:-finstrument-functions>
					$<${is_gcc}:-finstrument-functions-exclude-file-list=/usr/include,/usr/local/include,/include/c++/,/lib/gcc/>
					$<${is_clang}:-finstrument-functions-after-inlining>)
			elseif(kind STREQUAL "xray")
				target_compile_options(${target} BEFORE PRIVATE
					$<${is_language}:-fxray-instrument>
					$<${is_language}:-fxray-instruction-threshold=1>)
			elseif(NOT kind STREQUAL "none")
				message(FATAL_ERROR "FXT_INSTRUMENT=${kind}: must be prepared, hooks, xray or none")
			endif()
		endforeach()
	endforeach()
endfunction()
