//go:build !purego

#include "textflag.h"

// R0  the lines
// R1  number of lines
// R2  the next hash
// R3  keys still to do
// R4  sum
// R5  a hash, then its line's address
// R6  a word
// R7  hash to fetch for

// READ adds the first word of the line of the hash at R2, and steps on.
#define READ \
	MOVD.P 8(R2), R5;      \
	UMULH R5, R1, R5;      \
	ADD  R5<<6, R0, R5;    \
	MOVD (R5), R6;         \
	ADD  R6, R4, R4

// FETCH asks for the line of the hash at R7, and steps on.
#define FETCH \
	MOVD.P 8(R7), R5;      \
	UMULH R5, R1, R5;      \
	ADD  R5<<6, R0, R5;    \
	PRFM (R5), PLDL1KEEP

// func empty()
TEXT ·empty(SB), NOSPLIT, $0-0
	RET

// func readLines(mem *byte, lines uint64, hashes *uint64, n int) uint64
TEXT ·readLines(SB), NOSPLIT, $0-40
	MOVD mem+0(FP), R0
	MOVD lines+8(FP), R1
	MOVD hashes+16(FP), R2
	MOVD n+24(FP), R3
	MOVD ZR, R4

loop:
	CBZ  R3, done
	READ
	SUB  $1, R3, R3
	B    loop

done:
	MOVD R4, ret+32(FP)
	RET

// func readLinesPrefetched(mem *byte, lines uint64, hashes *uint64, n int) uint64
TEXT ·readLinesPrefetched(SB), NOSPLIT, $0-40
	MOVD mem+0(FP), R0
	MOVD lines+8(FP), R1
	MOVD hashes+16(FP), R2
	MOVD n+24(FP), R3
	MOVD ZR, R4
	MOVD R2, R7

	// The first 128 lines, or as many as there are keys.
	MOVD $128, R8
	CMP  R8, R3
	CSEL LT, R3, R8, R8
	SUB  R8, R3, R9 // keys that have another one 128 further on

first:
	CBZ  R8, ahead
	FETCH
	SUB  $1, R8, R8
	B    first

ahead:
	CBZ  R9, rest
	FETCH
	READ
	SUB  $1, R9, R9
	SUB  $1, R3, R3
	B    ahead

rest:
	CBZ  R3, done
	READ
	SUB  $1, R3, R3
	B    rest

done:
	MOVD R4, ret+32(FP)
	RET
