//go:build !purego

#include "textflag.h"

// AX, DX  product of a hash and the number of lines; DX is the line
// BX      the lines
// CX      keys still to do
// SI      the next hash
// DI      number of lines
// R8      sum

// READ adds the first word of the line of hash number i from SI.
#define READ(i) \
	MOVQ 8*i(SI), AX; \
	MULQ DI;          \
	SHLQ $6, DX;      \
	ADDQ (BX)(DX*1), R8

// FETCH asks for the line of hash number i from SI.
#define FETCH(i) \
	MOVQ 8*i(SI), AX; \
	MULQ DI;          \
	SHLQ $6, DX;      \
	PREFETCHT0 (BX)(DX*1)

// func empty()
TEXT ·empty(SB), NOSPLIT, $0-0
	RET

// func readLines(mem *byte, lines uint64, hashes *uint64, n int) uint64
TEXT ·readLines(SB), NOSPLIT, $0-40
	MOVQ mem+0(FP), BX
	MOVQ lines+8(FP), DI
	MOVQ hashes+16(FP), SI
	MOVQ n+24(FP), CX
	XORL R8, R8

four:
	CMPQ CX, $4
	JLT  one
	READ(0)
	READ(1)
	READ(2)
	READ(3)
	ADDQ $32, SI
	SUBQ $4, CX
	JMP  four

one:
	TESTQ CX, CX
	JLE  done
	READ(0)
	ADDQ $8, SI
	DECQ CX
	JMP  one

done:
	MOVQ R8, ret+32(FP)
	RET

// func readLinesPrefetched(mem *byte, lines uint64, hashes *uint64, n int) uint64
TEXT ·readLinesPrefetched(SB), NOSPLIT, $0-40
	MOVQ mem+0(FP), BX
	MOVQ lines+8(FP), DI
	MOVQ hashes+16(FP), SI
	MOVQ n+24(FP), CX
	XORL R8, R8

	// The first 128 lines, or as many as there are keys.
	MOVQ SI, R9
	MOVQ CX, R10
	CMPQ R10, $128
	JLE  first
	MOVQ $128, R10

first:
	TESTQ R10, R10
	JLE  ahead
	FETCH(0)
	ADDQ $8, SI
	DECQ R10
	JMP  first

ahead:
	MOVQ R9, SI

four:
	CMPQ CX, $132 // four keys with another four 128 further on
	JLT  rest
	FETCH(128)
	READ(0)
	FETCH(129)
	READ(1)
	FETCH(130)
	READ(2)
	FETCH(131)
	READ(3)
	ADDQ $32, SI
	SUBQ $4, CX
	JMP  four

rest:
	CMPQ CX, $128
	JLE  one
	FETCH(128)
	READ(0)
	ADDQ $8, SI
	DECQ CX
	JMP  rest

one:
	TESTQ CX, CX
	JLE  done
	READ(0)
	ADDQ $8, SI
	DECQ CX
	JMP  one

done:
	MOVQ R8, ret+32(FP)
	RET
