//go:build !purego

#include "textflag.h"

// XXH3-64 of eight keys of eight bytes at a time. In the specification's terms ("len 4 to 8"): the key's halves are exchanged and mixed with the bitflip, and
// rrmxmx follows. Each lane is one key; hash.go has the same in Go.

// prime: the multiplier of rrmxmx
DATA prime<>+0(SB)/8, $0x9FB21C651E98DF25
GLOBL prime<>(SB), RODATA|NOPTR, $8

DATA eight<>+0(SB)/8, $8
GLOBL eight<>(SB), RODATA|NOPTR, $8

// func hashUint64sAVX512(dst *uint64, keys unsafe.Pointer, n int, flip uint64)
// dst[i] = the hash of the eight bytes at keys+8i. n is a multiple of 8 above 0. Needs AVX-512 F and DQ.
TEXT ·hashUint64sAVX512(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ keys+8(FP), SI
	MOVQ n+16(FP), CX
	VPBROADCASTQ flip+24(FP), Z4
	VPBROADCASTQ prime<>(SB), Z5
	VPBROADCASTQ eight<>(SB), Z6

next:
	VPROLQ     $32, (SI), Z0
	VPXORQ     Z4, Z0, Z0
	VPROLQ     $49, Z0, Z1
	VPROLQ     $24, Z0, Z2
	VPTERNLOGQ $0x96, Z1, Z2, Z0 // the exclusive or of all three
	VPMULLQ    Z5, Z0, Z0
	VPSRLQ     $35, Z0, Z1
	VPADDQ     Z6, Z1, Z1
	VPXORQ     Z1, Z0, Z0
	VPMULLQ    Z5, Z0, Z0
	VPSRLQ     $28, Z0, Z1
	VPXORQ     Z1, Z0, Z0
	VMOVDQU64  Z0, (DI)
	ADDQ       $64, SI
	ADDQ       $64, DI
	SUBQ       $8, CX
	JNE        next
	VZEROUPPER
	RET

// func pickRangeAVX512(dst, hs *uint64, n int, first, size uint64) int
// Copies those of hs[0:n] that are from first on and less than size beyond to dst, in order, and returns how many. n is a multiple of 8 above 0; dst has room for n
// and eight more. Needs AVX-512 F and DQ, and POPCNT.
TEXT ·pickRangeAVX512(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ hs+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ DI, BX
	VPBROADCASTQ first+24(FP), Z4
	VPBROADCASTQ size+32(FP), Z5

pick:
	VMOVDQU64   (SI), Z0
	VPSUBQ      Z4, Z0, Z1
	VPCMPUQ     $1, Z5, Z1, K1 // less than, without sign
	VPCOMPRESSQ Z0, K1, Z1
	KMOVB       K1, AX
	VMOVDQU64   Z1, (DI)       // the picked ones, and up to eight that the next turn writes over
	POPCNTL     AX, AX
	LEAQ        (DI)(AX*8), DI
	ADDQ        $64, SI
	SUBQ        $8, CX
	JNE         pick
	SUBQ        BX, DI
	SHRQ        $3, DI
	MOVQ        DI, ret+40(FP)
	VZEROUPPER
	RET
