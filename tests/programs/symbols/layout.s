/* Symbols that lie as no compiler lays them, to test which of them an address belongs to. */
	.text

	.globl	outer
	.type	outer, %function
outer:	.skip	16
	.type	inner, %function
inner:	.skip	16
	.size	inner, 16
	.skip	32
	.size	outer, 64

	.skip	16	/* a gap */

	.globl	unsized
	.type	unsized, %function
unsized:
	.skip	16

/* Three names for one function, and two for another. */
	.type	a_local, %function
	.weak	b_weak
	.type	b_weak, %function
	.globl	c_global
	.type	c_global, %function
a_local:
b_weak:
c_global:
	.skip	16
	.size	a_local, 16
	.size	b_weak, 16
	.size	c_global, 16

	.type	d_local, %function
	.weak	e_weak
	.type	e_weak, %function
d_local:
e_weak:
	.skip	16
	.size	d_local, 32	/* longer than the weak one */
	.size	e_weak, 16
	.skip	16

/* Two globals: the first by name. */
	.globl	g_second
	.type	g_second, %function
	.globl	f_first
	.type	f_first, %function
g_second:
f_first:
	.skip	16
	.size	g_second, 16
	.size	f_first, 16

/* A name for others comes before one of the implementation, unless only that is exported. */
	.globl	_IO_global
	.type	_IO_global, %function
	.weak	plain_weak
	.type	plain_weak, %function
_IO_global:
plain_weak:
	.skip	16
	.size	_IO_global, 16
	.size	plain_weak, 16

	.globl	__global
	.type	__global, %function
	.type	__local, %function
	.type	local, %function
__global:
__local:
local:
	.skip	16
	.size	__global, 16
	.size	__local, 16
	.size	local, 16

/* What compilers and linkers append. */
	.type	"_Z5clonei.constprop.0", %function
"_Z5clonei.constprop.0":
	.skip	16
	.size	"_Z5clonei.constprop.0", 16
	.type	"_ZL7privatei.lto_priv.0", %function
"_ZL7privatei.lto_priv.0":
	.skip	16
	.size	"_ZL7privatei.lto_priv.0", 16

	.type	bare_label, %notype
bare_label:
	.skip	16

	.data
	.globl	datum
	.type	datum, %object
datum:	.skip	16
	.size	datum, 16
data_label:
	.skip	16
