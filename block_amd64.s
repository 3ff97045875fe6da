//go:build !purego

#include "textflag.h"

// The amd64 kernels. dispatch.go has their contract, block_generic.go the same work in Go.
//
// A key's block is at bits + 64*floor(h*N / 2^64): the high half of MULX, shifted left by six. Its bit numbers are the eight bytes of
// g = h*mul1, modulo 64: byte l for lane l. Each kernel does three things with them:
//
//  1. bring byte l of g into 64-bit lane l of a vector, as a shift count;
//  2. turn the counts into a mask with one bit a lane (add), or shift the block's lanes by them, so that the bit in question comes
//     to a place where it is cheap to read (lookup with AVX2);
//  3. compare the mask with the block, or or it into the block.
//
// AVX-512 does step 1 for eight keys at once: VPMULLQ multiplies eight hashes, and two shuffles transpose the 8x8 bytes, so that byte j of lane l
// is key j's count for lane l. A shift right by 8j then gives key j's counts, and VPROLVQ looks at the lowest six bits of a count
// only, so that what stands above them does no harm. A whole block is one register: VPTESTMQ of mask and block gives a bit a lane.
//
// AVX2 goes through the stack: g is stored as one quadword and loaded as two times four bytes, widened to four lanes each. A lookup shifts the block
// left by 63 minus the bit number, which brings the bit to the lane's sign, where VMOVMSKPD reads four at once. 63 minus the number is
// its complement in six bits, so that one ANDN makes all eight.
//
// k < 8 takes k of the lanes, from lane r on, r being the low three bits of the product's high half; the header's lane table has the
// lanes of each r in the form that is wanted. k > 8 does a round with all lanes and then the same with g2 and k-8 lanes.
//
// R14 (g), R15 (the global offset table in shared builds) and BP are left alone.

// func, offsets and numbers of dispatch.go
#define bits_   0
#define blocks_ 8
#define lanes_  16
#define kernel_ 24
#define skip_   0
#define bitsOf_ 64
#define split_  128
#define diag_   192

// kernel | class<<8, as two bytes of the header read together
#define AVX512_LOW   0x0002
#define AVX512_EIGHT 0x0102
#define AVX512_HIGH  0x0202
#define AVX2_LOW     0x0001
#define AVX2_EIGHT   0x0101
#define AVX2_HIGH    0x0201

// mul1, mul2: the layout's multipliers
DATA mul1<>+0(SB)/8, $0x9E3779B97F4A7C15
GLOBL mul1<>(SB), RODATA|NOPTR, $8
DATA mul2<>+0(SB)/8, $0xC2B2AE3D27D4EB4F
GLOBL mul2<>(SB), RODATA|NOPTR, $8

DATA one<>+0(SB)/8, $1
GLOBL one<>(SB), RODATA|NOPTR, $8

// six: the low six bits of every byte
DATA six<>+0(SB)/8, $0x3F3F3F3F3F3F3F3F
GLOBL six<>(SB), RODATA|NOPTR, $8

// shifts: 8l in lane l, to bring byte l of a quadword to the bottom of lane l
DATA shifts<>+0(SB)/8, $0
DATA shifts<>+8(SB)/8, $8
DATA shifts<>+16(SB)/8, $16
DATA shifts<>+24(SB)/8, $24
DATA shifts<>+32(SB)/8, $32
DATA shifts<>+40(SB)/8, $40
DATA shifts<>+48(SB)/8, $48
DATA shifts<>+56(SB)/8, $56
GLOBL shifts<>(SB), RODATA|NOPTR, $64

// pair: within 16 bytes, which hold two keys' products a and b, the order a0 b0 a1 b1 ... a7 b7
DATA pair<>+0(SB)/8, $0x0b030a0209010800
DATA pair<>+8(SB)/8, $0x0f070e060d050c04
DATA pair<>+16(SB)/8, $0x0b030a0209010800
DATA pair<>+24(SB)/8, $0x0f070e060d050c04
DATA pair<>+32(SB)/8, $0x0b030a0209010800
DATA pair<>+40(SB)/8, $0x0f070e060d050c04
DATA pair<>+48(SB)/8, $0x0b030a0209010800
DATA pair<>+56(SB)/8, $0x0f070e060d050c04
GLOBL pair<>(SB), RODATA|NOPTR, $64

// gather: lane l takes the four words l of the four 16-byte parts
DATA gather<>+0(SB)/8, $0x0018001000080000
DATA gather<>+8(SB)/8, $0x0019001100090001
DATA gather<>+16(SB)/8, $0x001a0012000a0002
DATA gather<>+24(SB)/8, $0x001b0013000b0003
DATA gather<>+32(SB)/8, $0x001c0014000c0004
DATA gather<>+40(SB)/8, $0x001d0015000d0005
DATA gather<>+48(SB)/8, $0x001e0016000e0006
DATA gather<>+56(SB)/8, $0x001f0017000f0007
GLOBL gather<>(SB), RODATA|NOPTR, $64

// ---- Batches: what they share
//
// AX   scratch                        R8   N
// BX   bits, the first block          R9   scratch
// CX   keys still to do               R10  the block's offset from BX
// DX   h, or N where that says so     R11  mul1
// SI   hs, the next eight             R12  lane table, or a constant where that says so
// DI   dst, the next eight            R13  r, the first lane

#define ARGS_DST \
	MOVQ f+0(FP), AX;     \
	MOVQ dst+8(FP), DI;   \
	MOVQ hs+16(FP), SI;   \
	MOVQ bits_(AX), BX;   \
	MOVQ blocks_(AX), R8; \
	MOVQ lanes_(AX), R12; \
	MOVQ mul1<>(SB), R11

#define ARGS \
	MOVQ f+0(FP), AX;     \
	MOVQ hs+8(FP), SI;    \
	MOVQ bits_(AX), BX;   \
	MOVQ blocks_(AX), R8; \
	MOVQ lanes_(AX), R12; \
	MOVQ mul1<>(SB), R11

// DX = hash j, R10 = its block's offset
#define INDEX(j) \
	MOVQ  (8*j)(SI), DX; \
	MULXQ R8, R9, R10;   \
	SHLQ  $6, R10

// The same with N in DX: an instruction less, where nothing else needs h.
#define INDEX_N(j) \
	MULXQ (8*j)(SI), R9, R10; \
	SHLQ  $6, R10

// As INDEX, and R9 = g1, R13 = r
#define INDEX_LANE(j) \
	INDEX(j);            \
	MULXQ R11, R9, R13;  \
	ANDL  $7, R13

// AX = g2, with R9 = g1
#define SECOND \
	MOVQ  R9, AX;        \
	SHRQ  $32, AX;       \
	XORQ  R9, AX;        \
	IMULQ mul2<>(SB), AX

// Fetch the block of the key 128 keys (prefetchWindow) after key j.
#define FETCH(j) \
	MOVQ       (1024+8*j)(SI), DX; \
	MULXQ      R8, R9, R10;        \
	SHLQ       $6, R10;            \
	PREFETCHT0 (BX)(R10*1)

#define FETCH_N(j) \
	MULXQ      (1024+8*j)(SI), R9, R10; \
	SHLQ       $6, R10;                 \
	PREFETCHT0 (BX)(R10*1)

#define EIGHT(STEP) \
	STEP(0); STEP(1); STEP(2); STEP(3); STEP(4); STEP(5); STEP(6); STEP(7)

#define EIGHT_DOWN(STEP) \
	STEP(7); STEP(6); STEP(5); STEP(4); STEP(3); STEP(2); STEP(1); STEP(0)

// Take TURN for every eight keys: while ahead lasts together with eight fetches, then without.
#define LOOP_DST(FETCH1, TURN) \
	MOVQ  ahead+32(FP), CX; \
	TESTQ CX, CX;           \
	JEQ   rest;             \
first: ;                    \
	EIGHT(FETCH1);          \
	TURN;                   \
	ADDQ  $64, SI;          \
	ADDQ  $8, DI;           \
	SUBQ  $8, CX;           \
	JNE   first;            \
rest: ;                     \
	MOVQ  n+24(FP), CX;     \
	SUBQ  ahead+32(FP), CX; \
	JEQ   done;             \
next: ;                     \
	TURN;                   \
	ADDQ  $64, SI;          \
	ADDQ  $8, DI;           \
	SUBQ  $8, CX;           \
	JNE   next;             \
done:

#define LOOP(FETCH1, TURN) \
	MOVQ  ahead+24(FP), CX; \
	TESTQ CX, CX;           \
	JEQ   rest;             \
first: ;                    \
	EIGHT(FETCH1);          \
	TURN;                   \
	ADDQ  $64, SI;          \
	SUBQ  $8, CX;           \
	JNE   first;            \
rest: ;                     \
	MOVQ  n+16(FP), CX;     \
	SUBQ  ahead+24(FP), CX; \
	JEQ   done;             \
next: ;                     \
	TURN;                   \
	ADDQ  $64, SI;          \
	SUBQ  $8, CX;           \
	JNE   next;             \
done:

// ---- AVX-512, batches
//
// Z0  1 in every lane      Z4  g of eight keys, transposed: byte j of lane l is key j's count for lane l
// Z1  a key's mask         Z5  g2 of eight keys, transposed
// Z2  a key's second mask  Z6  mul1 in every lane, Z7 mul2
// Z3  the block            Z8  pair, Z9 gather
// K1  a bit a lane         K3  the lanes that take part

#define CONSTANTS512 \
	VPBROADCASTQ one<>(SB), Z0;  \
	VPBROADCASTQ mul1<>(SB), Z6; \
	VMOVDQU64    pair<>(SB), Z8; \
	VMOVDQU64    gather<>(SB), Z9

#define PRODUCTS512 \
	VPMULLQ (SI), Z6, Z4; \
	VPSHUFB Z8, Z4, Z4;   \
	VPERMW  Z4, Z9, Z4

#define PRODUCTS512_HIGH \
	VPMULLQ (SI), Z6, Z4; \
	VPSRLQ  $32, Z4, Z5;  \
	VPXORQ  Z4, Z5, Z5;   \
	VPMULLQ Z5, Z7, Z5;   \
	VPSHUFB Z8, Z4, Z4;   \
	VPERMW  Z4, Z9, Z4;   \
	VPSHUFB Z8, Z5, Z5;   \
	VPERMW  Z5, Z9, Z5

// Z1 = key j's mask of all lanes
#define MASK512(j) \
	VPSRLQ  $(8*j), Z4, Z1; \
	VPROLVQ Z1, Z0, Z1

// Z1 = key j's mask of the lanes in K3
#define MASK512_LOW(j) \
	KMOVB     bitsOf_(R12)(R13*8), K3; \
	VPSRLQ    $(8*j), Z4, Z1;          \
	VPROLVQ.Z Z1, Z0, K3, Z1

// Z1 = key j's mask of round one, Z2 that of round two, of the lanes in K3
#define MASK512_HIGH(j) \
	KMOVB     bitsOf_(R12)(R13*8), K3; \
	VPSRLQ    $(8*j), Z4, Z1;          \
	VPSRLQ    $(8*j), Z5, Z2;          \
	VPROLVQ   Z1, Z0, Z1;              \
	VPROLVQ.Z Z2, Z0, K3, Z2

// K1 has eight bits, all set where the key may be contained: then the carry is set and goes in at the bottom of AX. Keys from 7 down to 0, so that bit j of AX
// is key j's, which PDEP spreads to eight bools.
#define CONTAINS512(j) \
	INDEX_N(j);                    \
	MASK512(j);                    \
	VPTESTMQ (BX)(R10*1), Z1, K1;  \
	KORTESTB K1, K1;               \
	ADCL     AX, AX

#define CONTAINS512_TURN \
	PRODUCTS512;             \
	EIGHT_DOWN(CONTAINS512); \
	PDEPQ R12, AX, R9;       \
	MOVQ  R9, (DI)

#define CONTAINS512_LOW(j) \
	INDEX_LANE(j);                      \
	MASK512(j);                         \
	VPTESTNMQ (BX)(R10*1), Z1, K1;      \
	KMOVB     K1, AX;                   \
	TESTQ     AX, bitsOf_(R12)(R13*8);  \
	SETEQ     j(DI)

#define CONTAINS512_LOW_TURN \
	PRODUCTS512;           \
	EIGHT(CONTAINS512_LOW)

#define CONTAINS512_HIGH(j) \
	INDEX_LANE(j);                          \
	KMOVB     bitsOf_(R12)(R13*8), K3;      \
	VPSRLQ    $(8*j), Z4, Z1;               \
	VPSRLQ    $(8*j), Z5, Z2;               \
	VPROLVQ   Z1, Z0, Z1;                   \
	VPROLVQ   Z2, Z0, Z2;                   \
	VMOVDQU64 (BX)(R10*1), Z3;              \
	VPTESTNMQ Z3, Z1, K1;                   \
	VPTESTNMQ Z3, Z2, K3, K2;               \
	KORTESTB  K1, K2;                       \
	SETEQ     j(DI)

#define CONTAINS512_HIGH_TURN \
	PRODUCTS512_HIGH;       \
	EIGHT(CONTAINS512_HIGH)

#define ADD512(j) \
	INDEX_N(j);                   \
	MASK512(j);                   \
	VPORQ     (BX)(R10*1), Z1, Z1; \
	VMOVDQU64 Z1, (BX)(R10*1)

#define ADD512_TURN \
	PRODUCTS512;   \
	EIGHT(ADD512)

#define ADD512_LOW(j) \
	INDEX_LANE(j);                \
	MASK512_LOW(j);               \
	VPORQ     (BX)(R10*1), Z1, Z1; \
	VMOVDQU64 Z1, (BX)(R10*1)

#define ADD512_LOW_TURN \
	PRODUCTS512;      \
	EIGHT(ADD512_LOW)

#define ADD512_HIGH(j) \
	INDEX_LANE(j);                \
	MASK512_HIGH(j);              \
	VPORQ     (BX)(R10*1), Z1, Z1; \
	VPORQ     Z2, Z1, Z1;         \
	VMOVDQU64 Z1, (BX)(R10*1)

#define ADD512_HIGH_TURN \
	PRODUCTS512_HIGH;  \
	EIGHT(ADD512_HIGH)

// K1 = lanes whose bit was missing: one at least where the key was absent
#define ADDABSENT512(j) \
	INDEX_N(j);                \
	MASK512(j);                \
	VMOVDQU64 (BX)(R10*1), Z3; \
	VPTESTNMQ Z3, Z1, K1;      \
	VPORQ     Z3, Z1, Z1;      \
	VMOVDQU64 Z1, (BX)(R10*1); \
	KORTESTB  K1, K1;          \
	SETNE     j(DI)

#define ADDABSENT512_TURN \
	PRODUCTS512;        \
	EIGHT(ADDABSENT512)

#define ADDABSENT512_LOW(j) \
	INDEX_LANE(j);             \
	MASK512_LOW(j);            \
	VMOVDQU64 (BX)(R10*1), Z3; \
	VPTESTNMQ Z3, Z1, K3, K1;  \
	VPORQ     Z3, Z1, Z1;      \
	VMOVDQU64 Z1, (BX)(R10*1); \
	KORTESTB  K1, K1;          \
	SETNE     j(DI)

#define ADDABSENT512_LOW_TURN \
	PRODUCTS512;            \
	EIGHT(ADDABSENT512_LOW)

#define ADDABSENT512_HIGH(j) \
	INDEX_LANE(j);             \
	MASK512_HIGH(j);           \
	VMOVDQU64 (BX)(R10*1), Z3; \
	VPTESTNMQ Z3, Z1, K1;      \
	VPTESTNMQ Z3, Z2, K3, K2;  \
	VPORQ     Z3, Z1, Z1;      \
	VPORQ     Z2, Z1, Z1;      \
	VMOVDQU64 Z1, (BX)(R10*1); \
	KORTESTB  K1, K2;          \
	SETNE     j(DI)

#define ADDABSENT512_HIGH_TURN \
	PRODUCTS512_HIGH;        \
	EIGHT(ADDABSENT512_HIGH)

// func containsEightBatchAVX512(f *header, dst *bool, hs *uint64, n, ahead int)
// k = 8; the AVX-512 kernel's lookup where bitGather is off.
TEXT ·containsEightBatchAVX512(SB), NOSPLIT, $0-40
	ARGS_DST
	CONSTANTS512
	MOVQ R8, DX
	MOVQ $0x0101010101010101, R12 // PDEP: bit 0 of each byte
	LOOP_DST(FETCH_N, CONTAINS512_TURN)
	VZEROUPPER
	RET

// func containsLowBatchAVX512(f *header, dst *bool, hs *uint64, n, ahead int)
// k < 8
TEXT ·containsLowBatchAVX512(SB), NOSPLIT, $0-40
	ARGS_DST
	CONSTANTS512
	LOOP_DST(FETCH, CONTAINS512_LOW_TURN)
	VZEROUPPER
	RET

// func containsHighBatchAVX512(f *header, dst *bool, hs *uint64, n, ahead int)
// k > 8
TEXT ·containsHighBatchAVX512(SB), NOSPLIT, $0-40
	ARGS_DST
	CONSTANTS512
	VPBROADCASTQ mul2<>(SB), Z7
	LOOP_DST(FETCH, CONTAINS512_HIGH_TURN)
	VZEROUPPER
	RET

// func addEightBatchAVX512(f *header, hs *uint64, n, ahead int)
// k = 8
TEXT ·addEightBatchAVX512(SB), NOSPLIT, $0-32
	ARGS
	CONSTANTS512
	MOVQ R8, DX
	LOOP(FETCH_N, ADD512_TURN)
	VZEROUPPER
	RET

// func addLowBatchAVX512(f *header, hs *uint64, n, ahead int)
// k < 8
TEXT ·addLowBatchAVX512(SB), NOSPLIT, $0-32
	ARGS
	CONSTANTS512
	LOOP(FETCH, ADD512_LOW_TURN)
	VZEROUPPER
	RET

// func addHighBatchAVX512(f *header, hs *uint64, n, ahead int)
// k > 8
TEXT ·addHighBatchAVX512(SB), NOSPLIT, $0-32
	ARGS
	CONSTANTS512
	VPBROADCASTQ mul2<>(SB), Z7
	LOOP(FETCH, ADD512_HIGH_TURN)
	VZEROUPPER
	RET

// func addIfAbsentEightBatchAVX512(f *header, dst *bool, hs *uint64, n, ahead int)
// k = 8
TEXT ·addIfAbsentEightBatchAVX512(SB), NOSPLIT, $0-40
	ARGS_DST
	CONSTANTS512
	MOVQ R8, DX
	LOOP_DST(FETCH_N, ADDABSENT512_TURN)
	VZEROUPPER
	RET

// func addIfAbsentLowBatchAVX512(f *header, dst *bool, hs *uint64, n, ahead int)
// k < 8
TEXT ·addIfAbsentLowBatchAVX512(SB), NOSPLIT, $0-40
	ARGS_DST
	CONSTANTS512
	LOOP_DST(FETCH, ADDABSENT512_LOW_TURN)
	VZEROUPPER
	RET

// func addIfAbsentHighBatchAVX512(f *header, dst *bool, hs *uint64, n, ahead int)
// k > 8
TEXT ·addIfAbsentHighBatchAVX512(SB), NOSPLIT, $0-40
	ARGS_DST
	CONSTANTS512
	VPBROADCASTQ mul2<>(SB), Z7
	LOOP_DST(FETCH, ADDABSENT512_HIGH_TURN)
	VZEROUPPER
	RET

// ---- AVX-512 with BITALG, lookups
//
// VPSHUFBITQMB picks, for each byte b of each lane l of its control, the bit of the block's lane l that the byte's low six bits name: 64 bits. With g in
// every lane, byte l of lane l is the wanted one, so that the diagonal, bits 9l, is the answer. No mask is built at all.
//
// g goes through the stack, since the load that spreads it over the lanes is free of the port that VPSHUFBITQMB and MULX need.

// others: all bits but the diagonal. With them or-ed in, a key that may be contained gives 64 set bits, and KORTESTQ sets the carry.
DATA others<>+0(SB)/8, $0x7FBFDFEFF7FBFDFE
GLOBL others<>(SB), RODATA|NOPTR, $8

// diagonal: the rest
DATA diagonal<>+0(SB)/8, $0x8040201008040201
GLOBL diagonal<>(SB), RODATA|NOPTR, $8

#define CONTAINSBITALG(j) \
	INDEX(j);                        \
	IMULQ        R11, DX;            \
	MOVQ         DX, (8*j)(SP);      \
	VPBROADCASTQ (8*j)(SP), Z1;      \
	VMOVDQU64    (BX)(R10*1), Z3;    \
	VPSHUFBITQMB Z1, Z3, K1;         \
	KORTESTQ     K2, K1;             \
	ADCL         AX, AX

#define CONTAINSBITALG_TURN \
	EIGHT_DOWN(CONTAINSBITALG); \
	PDEPQ R12, AX, R9;          \
	MOVQ  R9, (DI)

#define CONTAINSBITALG_LOW(j) \
	INDEX_LANE(j);                          \
	MOVQ         R9, (8*j)(SP);             \
	VPBROADCASTQ (8*j)(SP), Z1;             \
	VMOVDQU64    (BX)(R10*1), Z3;           \
	VPSHUFBITQMB Z1, Z3, K1;                \
	KMOVQ        K1, AX;                    \
	ANDNQ        diag_(R12)(R13*8), AX, AX; \
	SETEQ        j(DI)

#define CONTAINSBITALG_LOW_TURN EIGHT(CONTAINSBITALG_LOW)

#define CONTAINSBITALG_HIGH(j) \
	INDEX_LANE(j);                          \
	SECOND;                                 \
	MOVQ         R9, (8*j)(SP);             \
	MOVQ         AX, (64+8*j)(SP);          \
	VPBROADCASTQ (8*j)(SP), Z1;             \
	VPBROADCASTQ (64+8*j)(SP), Z2;          \
	VMOVDQU64    (BX)(R10*1), Z3;           \
	VPSHUFBITQMB Z1, Z3, K1;                \
	VPSHUFBITQMB Z2, Z3, K2;                \
	KMOVQ        K1, R9;                    \
	KMOVQ        K2, AX;                    \
	ANDNQ        diagonal<>(SB), R9, R9;    \
	ANDNQ        diag_(R12)(R13*8), AX, AX; \
	ORQ          R9, AX;                    \
	SETEQ        j(DI)

#define CONTAINSBITALG_HIGH_TURN EIGHT(CONTAINSBITALG_HIGH)

// func containsEightBatchBITALG(f *header, dst *bool, hs *uint64, n, ahead int)
// k = 8; the AVX-512 kernel's lookup where bitGather is on, as the next two.
TEXT ·containsEightBatchBITALG(SB), NOSPLIT, $64-40
	ARGS_DST
	KMOVQ others<>(SB), K2
	MOVQ  $0x0101010101010101, R12 // PDEP: bit 0 of each byte
	LOOP_DST(FETCH, CONTAINSBITALG_TURN)
	VZEROUPPER
	RET

// func containsLowBatchBITALG(f *header, dst *bool, hs *uint64, n, ahead int)
// k < 8
TEXT ·containsLowBatchBITALG(SB), NOSPLIT, $64-40
	ARGS_DST
	LOOP_DST(FETCH, CONTAINSBITALG_LOW_TURN)
	VZEROUPPER
	RET

// func containsHighBatchBITALG(f *header, dst *bool, hs *uint64, n, ahead int)
// k > 8
TEXT ·containsHighBatchBITALG(SB), NOSPLIT, $128-40
	ARGS_DST
	LOOP_DST(FETCH, CONTAINSBITALG_HIGH_TURN)
	VZEROUPPER
	RET

// ---- AVX2, batches
//
// Y0  1 in every lane
// Y1  counts, then mask or shifted block, of lanes 0 to 3; Y2 of lanes 4 to 7
// Y3  lanes 0 to 3 of the block, Y4 lanes 4 to 7
// Y5, Y6  the second round's Y1 and Y2
//
// Each key has eight bytes of the stack for g1, and eight for g2.

// Y1, Y2 = the counts at s(SP)
#define COUNTS(s, YA, YB) \
	VPMOVZXBQ (s)(SP), YA;  \
	VPMOVZXBQ (4+s)(SP), YB

#define BLOCK \
	VMOVDQU (BX)(R10*1), Y3;   \
	VMOVDQU 32(BX)(R10*1), Y4

// R12 = six
#define CONTAINS2(j) \
	INDEX(j);                   \
	IMULQ     R11, DX;          \
	ANDNQ     R12, DX, DX;      \
	MOVQ      DX, (8*j)(SP);    \
	COUNTS(8*j, Y1, Y2);        \
	BLOCK;                      \
	VPSLLVQ   Y1, Y3, Y1;       \
	VPSLLVQ   Y2, Y4, Y2;       \
	VPAND     Y1, Y2, Y2;       \
	VMOVMSKPD Y2, AX;           \
	CMPL      AX, $15;          \
	SETEQ     j(DI)

#define CONTAINS2_TURN EIGHT(CONTAINS2)

// VSHUFPS keeps the upper halves of the lanes, in the order of the table's split.
#define CONTAINS2_LOW(j) \
	INDEX_LANE(j);                              \
	ANDNQ     six<>(SB), R9, R9;                \
	MOVQ      R9, (8*j)(SP);                    \
	COUNTS(8*j, Y1, Y2);                        \
	BLOCK;                                      \
	VPSLLVQ   Y1, Y3, Y1;                       \
	VPSLLVQ   Y2, Y4, Y2;                       \
	VSHUFPS   $0xDD, Y2, Y1, Y1;                \
	VMOVMSKPS Y1, AX;                           \
	ANDNQ     split_(R12)(R13*8), AX, AX;       \
	SETEQ     j(DI)

#define CONTAINS2_LOW_TURN EIGHT(CONTAINS2_LOW)

#define CONTAINS2_HIGH(j) \
	INDEX_LANE(j);                              \
	SECOND;                                     \
	ANDNQ     six<>(SB), R9, R9;                \
	ANDNQ     six<>(SB), AX, AX;                \
	MOVQ      R9, (8*j)(SP);                    \
	MOVQ      AX, (64+8*j)(SP);                 \
	COUNTS(8*j, Y1, Y2);                        \
	COUNTS(64+8*j, Y5, Y6);                     \
	BLOCK;                                      \
	VPSLLVQ   Y1, Y3, Y1;                       \
	VPSLLVQ   Y2, Y4, Y2;                       \
	VPSLLVQ   Y5, Y3, Y5;                       \
	VPSLLVQ   Y6, Y4, Y6;                       \
	VPAND     Y1, Y2, Y1;                       \
	VSHUFPS   $0xDD, Y6, Y5, Y5;                \
	VMOVMSKPD Y1, AX;                           \
	VMOVMSKPS Y5, R9;                           \
	XORL      $15, AX;                          \
	ANDNQ     split_(R12)(R13*8), R9, R9;       \
	ORQ       R9, AX;                           \
	SETEQ     j(DI)

#define CONTAINS2_HIGH_TURN EIGHT(CONTAINS2_HIGH)

// Y1, Y2 = key j's mask of all lanes; R12 = six
#define MASK2(j) \
	IMULQ   R11, DX;       \
	ANDQ    R12, DX;       \
	MOVQ    DX, (8*j)(SP); \
	COUNTS(8*j, Y1, Y2);   \
	VPSLLVQ Y1, Y0, Y1;    \
	VPSLLVQ Y2, Y0, Y2

// Y1, Y2 = key j's mask of the lanes of r; a count of 64 or more shifts the one out
#define MASK2_LOW(j) \
	ANDQ    six<>(SB), R9;           \
	ORQ     skip_(R12)(R13*8), R9;   \
	MOVQ    R9, (8*j)(SP);           \
	COUNTS(8*j, Y1, Y2);             \
	VPSLLVQ Y1, Y0, Y1;              \
	VPSLLVQ Y2, Y0, Y2

// Y1, Y2 = key j's mask of both rounds
#define MASK2_HIGH(j) \
	SECOND;                          \
	ANDQ    six<>(SB), R9;           \
	ANDQ    six<>(SB), AX;           \
	ORQ     skip_(R12)(R13*8), AX;   \
	MOVQ    R9, (8*j)(SP);           \
	MOVQ    AX, (64+8*j)(SP);        \
	COUNTS(8*j, Y1, Y2);             \
	COUNTS(64+8*j, Y5, Y6);          \
	VPSLLVQ Y1, Y0, Y1;              \
	VPSLLVQ Y2, Y0, Y2;              \
	VPSLLVQ Y5, Y0, Y5;              \
	VPSLLVQ Y6, Y0, Y6;              \
	VPOR    Y5, Y1, Y1;              \
	VPOR    Y6, Y2, Y2

// Or Y1, Y2 into the block.
#define SET2 \
	VPOR    (BX)(R10*1), Y1, Y1;   \
	VPOR    32(BX)(R10*1), Y2, Y2; \
	VMOVDQU Y1, (BX)(R10*1);       \
	VMOVDQU Y2, 32(BX)(R10*1)

// The same, and byte j of dst = 1 where a bit was missing
#define SETABSENT2(j) \
	BLOCK;                       \
	VPANDN  Y1, Y3, Y5;          \
	VPANDN  Y2, Y4, Y6;          \
	VPOR    Y1, Y3, Y1;          \
	VPOR    Y2, Y4, Y2;          \
	VPOR    Y5, Y6, Y5;          \
	VMOVDQU Y1, (BX)(R10*1);     \
	VMOVDQU Y2, 32(BX)(R10*1);   \
	VPTEST  Y5, Y5;              \
	SETNE   j(DI)

#define ADD2(j) \
	INDEX(j); \
	MASK2(j); \
	SET2

#define ADD2_TURN EIGHT(ADD2)

#define ADD2_LOW(j) \
	INDEX_LANE(j); \
	MASK2_LOW(j);  \
	SET2

#define ADD2_LOW_TURN EIGHT(ADD2_LOW)

#define ADD2_HIGH(j) \
	INDEX_LANE(j); \
	MASK2_HIGH(j); \
	SET2

#define ADD2_HIGH_TURN EIGHT(ADD2_HIGH)

#define ADDABSENT2(j) \
	INDEX(j);      \
	MASK2(j);      \
	SETABSENT2(j)

#define ADDABSENT2_TURN EIGHT(ADDABSENT2)

#define ADDABSENT2_LOW(j) \
	INDEX_LANE(j); \
	MASK2_LOW(j);  \
	SETABSENT2(j)

#define ADDABSENT2_LOW_TURN EIGHT(ADDABSENT2_LOW)

#define ADDABSENT2_HIGH(j) \
	INDEX_LANE(j); \
	MASK2_HIGH(j); \
	SETABSENT2(j)

#define ADDABSENT2_HIGH_TURN EIGHT(ADDABSENT2_HIGH)

// func containsEightBatchAVX2(f *header, dst *bool, hs *uint64, n, ahead int)
// k = 8
TEXT ·containsEightBatchAVX2(SB), NOSPLIT, $64-40
	ARGS_DST
	MOVQ six<>(SB), R12
	LOOP_DST(FETCH, CONTAINS2_TURN)
	VZEROUPPER
	RET

// func containsLowBatchAVX2(f *header, dst *bool, hs *uint64, n, ahead int)
// k < 8
TEXT ·containsLowBatchAVX2(SB), NOSPLIT, $64-40
	ARGS_DST
	LOOP_DST(FETCH, CONTAINS2_LOW_TURN)
	VZEROUPPER
	RET

// func containsHighBatchAVX2(f *header, dst *bool, hs *uint64, n, ahead int)
// k > 8
TEXT ·containsHighBatchAVX2(SB), NOSPLIT, $128-40
	ARGS_DST
	LOOP_DST(FETCH, CONTAINS2_HIGH_TURN)
	VZEROUPPER
	RET

// func addEightBatchAVX2(f *header, hs *uint64, n, ahead int)
// k = 8
TEXT ·addEightBatchAVX2(SB), NOSPLIT, $64-32
	ARGS
	VPBROADCASTQ one<>(SB), Y0
	MOVQ six<>(SB), R12
	LOOP(FETCH, ADD2_TURN)
	VZEROUPPER
	RET

// func addLowBatchAVX2(f *header, hs *uint64, n, ahead int)
// k < 8
TEXT ·addLowBatchAVX2(SB), NOSPLIT, $64-32
	ARGS
	VPBROADCASTQ one<>(SB), Y0
	LOOP(FETCH, ADD2_LOW_TURN)
	VZEROUPPER
	RET

// func addHighBatchAVX2(f *header, hs *uint64, n, ahead int)
// k > 8
TEXT ·addHighBatchAVX2(SB), NOSPLIT, $128-32
	ARGS
	VPBROADCASTQ one<>(SB), Y0
	LOOP(FETCH, ADD2_HIGH_TURN)
	VZEROUPPER
	RET

// func addIfAbsentEightBatchAVX2(f *header, dst *bool, hs *uint64, n, ahead int)
// k = 8
TEXT ·addIfAbsentEightBatchAVX2(SB), NOSPLIT, $64-40
	ARGS_DST
	VPBROADCASTQ one<>(SB), Y0
	MOVQ six<>(SB), R12
	LOOP_DST(FETCH, ADDABSENT2_TURN)
	VZEROUPPER
	RET

// func addIfAbsentLowBatchAVX2(f *header, dst *bool, hs *uint64, n, ahead int)
// k < 8
TEXT ·addIfAbsentLowBatchAVX2(SB), NOSPLIT, $64-40
	ARGS_DST
	VPBROADCASTQ one<>(SB), Y0
	LOOP_DST(FETCH, ADDABSENT2_LOW_TURN)
	VZEROUPPER
	RET

// func addIfAbsentHighBatchAVX2(f *header, dst *bool, hs *uint64, n, ahead int)
// k > 8
TEXT ·addIfAbsentHighBatchAVX2(SB), NOSPLIT, $128-40
	ARGS_DST
	VPBROADCASTQ one<>(SB), Y0
	LOOP_DST(FETCH, ADDABSENT2_HIGH_TURN)
	VZEROUPPER
	RET

// func prefetchBatchBMI2(f *header, hs *uint64, n int)
// Fetches the blocks of hs[0:n].
TEXT ·prefetchBatchBMI2(SB), NOSPLIT, $0-24
	MOVQ f+0(FP), AX
	MOVQ hs+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ bits_(AX), BX
	MOVQ blocks_(AX), DX

prefetch:
	INDEX_N(0)
	PREFETCHT0 (BX)(R10*1)
	INDEX_N(1)
	PREFETCHT0 (BX)(R10*1)
	INDEX_N(2)
	PREFETCHT0 (BX)(R10*1)
	INDEX_N(3)
	PREFETCHT0 (BX)(R10*1)
	INDEX_N(4)
	PREFETCHT0 (BX)(R10*1)
	INDEX_N(5)
	PREFETCHT0 (BX)(R10*1)
	INDEX_N(6)
	PREFETCHT0 (BX)(R10*1)
	INDEX_N(7)
	PREFETCHT0 (BX)(R10*1)
	ADDQ $64, SI
	SUBQ $8, CX
	JNE  prefetch
	RET

// ---- One key
//
// The AVX-512 paths keep to Z16 and up: no instruction of the older encodings can see these registers, so that no VZEROUPPER is due, which
// would be a tenth of the whole lookup.
//
// AX  f, DX  h, BX  bits, R10  the block's offset, R12  lane table, R13  r, R9  g1

#define ONE_INDEX \
	MOVQ  bits_(AX), BX;          \
	MULXQ blocks_(AX), R9, R10;   \
	SHLQ  $6, R10

#define ONE_INDEX_LANE \
	MOVQ  bits_(AX), BX;          \
	MOVQ  lanes_(AX), R12;        \
	MULXQ blocks_(AX), R9, R10;   \
	MULXQ mul1<>(SB), R9, R13;    \
	SHLQ  $6, R10;                \
	ANDL  $7, R13

// ZM = the mask of all lanes for the round in R
#define ONE_MASK512(R, ZM) \
	VPBROADCASTQ R, ZM;               \
	VPSRLVQ      shifts<>(SB), ZM, ZM; \
	VPROLVQ      ZM, Z16, ZM

// YA, YB = the counts in R
#define ONE_COUNTS(R, XA, YA, XB, YB) \
	VMOVQ     R, XB;        \
	VPMOVZXBQ XB, YA;       \
	VPSRLQ    $32, XB, XB;  \
	VPMOVZXBQ XB, YB

// Y1, Y2 = the mask of the lanes of r; R9 = g1
#define ONE_MASK2_LOW \
	ANDQ    six<>(SB), R9;          \
	ORQ     skip_(R12)(R13*8), R9;  \
	ONE_COUNTS(R9, X1, Y1, X2, Y2); \
	VPSLLVQ Y1, Y0, Y1;             \
	VPSLLVQ Y2, Y0, Y2

// Y1, Y2 = the mask of both rounds; R9 = g1
#define ONE_MASK2_HIGH \
	SECOND;                         \
	ANDQ    six<>(SB), R9;          \
	ANDQ    six<>(SB), AX;          \
	ORQ     skip_(R12)(R13*8), AX;  \
	ONE_COUNTS(R9, X1, Y1, X2, Y2); \
	ONE_COUNTS(AX, X5, Y5, X6, Y6); \
	VPSLLVQ Y1, Y0, Y1;             \
	VPSLLVQ Y2, Y0, Y2;             \
	VPSLLVQ Y5, Y0, Y5;             \
	VPSLLVQ Y6, Y0, Y6;             \
	VPOR    Y5, Y1, Y1;             \
	VPOR    Y6, Y2, Y2

// func contains(f *header, h uint64) bool
// Reports whether all probes of h are set: every kernel and k, the most frequent first.
TEXT ·contains(SB), NOSPLIT, $0-17
	MOVQ    f+0(FP), AX
	MOVQ    h+8(FP), DX
	MOVWLZX kernel_(AX), CX
	CMPL    CX, $AVX512_EIGHT
	JNE     other
	ONE_INDEX
	IMULQ   mul1<>(SB), DX
	VPBROADCASTQ one<>(SB), Z16
	ONE_MASK512(DX, Z17)
	VPTESTNMQ (BX)(R10*1), Z17, K1
	KORTESTB K1, K1
	SETEQ   ret+16(FP)
	RET

other:
	CMPL  CX, $AVX2_EIGHT
	JNE   other2
	ONE_INDEX
	IMULQ mul1<>(SB), DX
	ANDNQ six<>(SB), DX, DX
	ONE_COUNTS(DX, X1, Y1, X2, Y2)
	BLOCK
	VPSLLVQ   Y1, Y3, Y1
	VPSLLVQ   Y2, Y4, Y2
	VPAND     Y1, Y2, Y2
	VMOVMSKPD Y2, AX
	CMPL  AX, $15
	SETEQ ret+16(FP)
	VZEROUPPER
	RET

other2:
	CMPL CX, $AVX512_LOW
	JNE  other3
	ONE_INDEX_LANE
	VPBROADCASTQ one<>(SB), Z16
	ONE_MASK512(R9, Z17)
	VPTESTNMQ (BX)(R10*1), Z17, K1
	KMOVB K1, AX
	TESTQ AX, bitsOf_(R12)(R13*8)
	SETEQ ret+16(FP)
	RET

other3:
	CMPL CX, $AVX512_HIGH
	JNE  other4
	ONE_INDEX_LANE
	SECOND
	VPBROADCASTQ one<>(SB), Z16
	ONE_MASK512(R9, Z17)
	ONE_MASK512(AX, Z18)
	KMOVB     bitsOf_(R12)(R13*8), K3
	VMOVDQU64 (BX)(R10*1), Z19
	VPTESTNMQ Z19, Z17, K1
	VPTESTNMQ Z19, Z18, K3, K2
	KORTESTB K1, K2
	SETEQ ret+16(FP)
	RET

other4:
	CMPL  CX, $AVX2_LOW
	JNE   other5
	ONE_INDEX_LANE
	ANDNQ six<>(SB), R9, R9
	ONE_COUNTS(R9, X1, Y1, X2, Y2)
	BLOCK
	VPSLLVQ   Y1, Y3, Y1
	VPSLLVQ   Y2, Y4, Y2
	VSHUFPS   $0xDD, Y2, Y1, Y1
	VMOVMSKPS Y1, AX
	ANDNQ split_(R12)(R13*8), AX, AX
	SETEQ ret+16(FP)
	VZEROUPPER
	RET

other5:
	CMPL  CX, $AVX2_HIGH
	JNE   generic
	ONE_INDEX_LANE
	SECOND
	ANDNQ six<>(SB), R9, R9
	ANDNQ six<>(SB), AX, AX
	ONE_COUNTS(R9, X1, Y1, X2, Y2)
	ONE_COUNTS(AX, X5, Y5, X6, Y6)
	BLOCK
	VPSLLVQ   Y1, Y3, Y1
	VPSLLVQ   Y2, Y4, Y2
	VPSLLVQ   Y5, Y3, Y5
	VPSLLVQ   Y6, Y4, Y6
	VPAND     Y1, Y2, Y1
	VSHUFPS   $0xDD, Y6, Y5, Y5
	VMOVMSKPD Y1, AX
	VMOVMSKPS Y5, R9
	XORL  $15, AX
	ANDNQ split_(R12)(R13*8), R9, R9
	ORQ   R9, AX
	SETEQ ret+16(FP)
	VZEROUPPER
	RET

generic:
	JMP ·containsGeneric(SB)

// func add(f *header, h uint64)
// Sets all probes of h: every kernel and k.
TEXT ·add(SB), NOSPLIT, $0-16
	MOVQ    f+0(FP), AX
	MOVQ    h+8(FP), DX
	MOVWLZX kernel_(AX), CX
	CMPL    CX, $AVX512_EIGHT
	JNE     other
	ONE_INDEX
	IMULQ   mul1<>(SB), DX
	VPBROADCASTQ one<>(SB), Z16
	ONE_MASK512(DX, Z17)
	VPORQ     (BX)(R10*1), Z17, Z17
	VMOVDQU64 Z17, (BX)(R10*1)
	RET

other:
	CMPL    CX, $AVX2_EIGHT
	JNE     other2
	VPBROADCASTQ one<>(SB), Y0
	ONE_INDEX
	IMULQ   mul1<>(SB), DX
	ANDQ    six<>(SB), DX
	ONE_COUNTS(DX, X1, Y1, X2, Y2)
	VPSLLVQ Y1, Y0, Y1
	VPSLLVQ Y2, Y0, Y2
	SET2
	VZEROUPPER
	RET

other2:
	CMPL CX, $AVX512_LOW
	JNE  other3
	ONE_INDEX_LANE
	VPBROADCASTQ one<>(SB), Z16
	ONE_MASK512(R9, Z17)
	KMOVB     bitsOf_(R12)(R13*8), K3
	VMOVDQU64 (BX)(R10*1), Z19
	VPORQ     Z17, Z19, K3, Z19
	VMOVDQU64 Z19, (BX)(R10*1)
	RET

other3:
	CMPL CX, $AVX512_HIGH
	JNE  other4
	ONE_INDEX_LANE
	SECOND
	VPBROADCASTQ one<>(SB), Z16
	ONE_MASK512(R9, Z17)
	ONE_MASK512(AX, Z18)
	KMOVB     bitsOf_(R12)(R13*8), K3
	VPORQ     (BX)(R10*1), Z17, Z17
	VPORQ     Z18, Z17, K3, Z17
	VMOVDQU64 Z17, (BX)(R10*1)
	RET

other4:
	CMPL CX, $AVX2_LOW
	JNE  other5
	VPBROADCASTQ one<>(SB), Y0
	ONE_INDEX_LANE
	ONE_MASK2_LOW
	SET2
	VZEROUPPER
	RET

other5:
	CMPL CX, $AVX2_HIGH
	JNE  generic
	VPBROADCASTQ one<>(SB), Y0
	ONE_INDEX_LANE
	ONE_MASK2_HIGH
	SET2
	VZEROUPPER
	RET

generic:
	JMP ·addGeneric(SB)

// Or Y1, Y2 into the block; the zero flag is clear where a bit was missing.
#define ONE_SETABSENT2 \
	BLOCK;                       \
	VPANDN  Y1, Y3, Y5;          \
	VPANDN  Y2, Y4, Y6;          \
	VPOR    Y1, Y3, Y1;          \
	VPOR    Y2, Y4, Y2;          \
	VPOR    Y5, Y6, Y5;          \
	VMOVDQU Y1, (BX)(R10*1);     \
	VMOVDQU Y2, 32(BX)(R10*1);   \
	VPTEST  Y5, Y5

// func addIfAbsent(f *header, h uint64) bool
// Sets all probes of h and reports whether one was missing: every kernel and k.
TEXT ·addIfAbsent(SB), NOSPLIT, $0-17
	MOVQ    f+0(FP), AX
	MOVQ    h+8(FP), DX
	MOVWLZX kernel_(AX), CX
	CMPL    CX, $AVX512_EIGHT
	JNE     other
	ONE_INDEX
	IMULQ   mul1<>(SB), DX
	VPBROADCASTQ one<>(SB), Z16
	ONE_MASK512(DX, Z17)
	VMOVDQU64 (BX)(R10*1), Z19
	VPTESTNMQ Z19, Z17, K1
	VPORQ     Z17, Z19, Z19
	VMOVDQU64 Z19, (BX)(R10*1)
	KORTESTB K1, K1
	SETNE   ret+16(FP)
	RET

other:
	CMPL    CX, $AVX2_EIGHT
	JNE     other2
	VPBROADCASTQ one<>(SB), Y0
	ONE_INDEX
	IMULQ   mul1<>(SB), DX
	ANDQ    six<>(SB), DX
	ONE_COUNTS(DX, X1, Y1, X2, Y2)
	VPSLLVQ Y1, Y0, Y1
	VPSLLVQ Y2, Y0, Y2
	ONE_SETABSENT2
	SETNE   ret+16(FP)
	VZEROUPPER
	RET

other2:
	CMPL CX, $AVX512_LOW
	JNE  other3
	ONE_INDEX_LANE
	VPBROADCASTQ one<>(SB), Z16
	ONE_MASK512(R9, Z17)
	KMOVB     bitsOf_(R12)(R13*8), K3
	VMOVDQU64 (BX)(R10*1), Z19
	VPTESTNMQ Z19, Z17, K3, K1
	VPORQ     Z17, Z19, K3, Z19
	VMOVDQU64 Z19, (BX)(R10*1)
	KORTESTB K1, K1
	SETNE ret+16(FP)
	RET

other3:
	CMPL CX, $AVX512_HIGH
	JNE  other4
	ONE_INDEX_LANE
	SECOND
	VPBROADCASTQ one<>(SB), Z16
	ONE_MASK512(R9, Z17)
	ONE_MASK512(AX, Z18)
	KMOVB     bitsOf_(R12)(R13*8), K3
	VMOVDQU64 (BX)(R10*1), Z19
	VPTESTNMQ Z19, Z17, K1
	VPTESTNMQ Z19, Z18, K3, K2
	VPORQ     Z17, Z19, Z19
	VPORQ     Z18, Z19, K3, Z19
	VMOVDQU64 Z19, (BX)(R10*1)
	KORTESTB K1, K2
	SETNE ret+16(FP)
	RET

other4:
	CMPL CX, $AVX2_LOW
	JNE  other5
	VPBROADCASTQ one<>(SB), Y0
	ONE_INDEX_LANE
	ONE_MASK2_LOW
	ONE_SETABSENT2
	SETNE ret+16(FP)
	VZEROUPPER
	RET

other5:
	CMPL CX, $AVX2_HIGH
	JNE  generic
	VPBROADCASTQ one<>(SB), Y0
	ONE_INDEX_LANE
	ONE_MASK2_HIGH
	ONE_SETABSENT2
	SETNE ret+16(FP)
	VZEROUPPER
	RET

generic:
	JMP ·addIfAbsentGeneric(SB)

// ---- One key, among other goroutines
//
// concurrent.go says how a block is held: its lane 0 has all bits set meanwhile. The block is looked at before, so that a key which is there takes no lock. It is held in code that the runtime cannot interrupt, for a load,
// an or and a store. XCHG with memory is a full barrier, and stores become visible in order, so that the last store, of lane 0, which lets the block go, comes after the rest.
//
// Lane 0 is left out of the other loads and stores: a load of the whole block would wait until what XCHG has stored is in the cache, which makes an add two thirds slower.
//
// DI  the block; AX  lane 0 as it will be, CX  as it was; R8  lane 1, R9  as it was

// Hold the block at offset R10, or go on in Go where somebody else holds it or lane 0 is full.
#define HOLD \
	LEAQ  (BX)(R10*1), DI; \
	MOVQ  $-1, CX;         \
	XCHGQ CX, (DI);        \
	CMPQ  CX, $-1;         \
	JEQ   held;            \
	ORQ   CX, AX;          \
	CMPQ  AX, $-1;         \
	JEQ   full

// The key's bits were all seen; R8 = its bit in lane 0. Go on in Go if somebody holds the block, since what looked like that bit may be none. Lane 0 is loaded once more, alone, as processors promise to do in one piece
// with a quadword and not with a vector: a piece of it that is a holder's, and one that is not, could have the bit and not be all ones.
#define THERE \
	MOVQ  (BX)(R10*1), AX; \
	CMPQ  AX, $-1;         \
	JEQ   held;            \
	ANDNQ R8, AX, R8;      \
	JNE   held

// func addShared(c *Concurrent, h uint64) bool
// Sets all probes of h in the midst of other addShared and lookups, and reports whether one was missing: every kernel and k.
TEXT ·addShared(SB), NOSPLIT, $0-17
	MOVQ    c+0(FP), AX
	MOVQ    h+8(FP), DX
	MOVWLZX kernel_(AX), CX
	CMPL    CX, $AVX512_EIGHT
	JNE     other
	ONE_INDEX
	IMULQ   mul1<>(SB), DX
	VPBROADCASTQ one<>(SB), Z16
	ONE_MASK512(DX, Z17)

masked512: // Z17 = the mask; X18 and Y17 become lanes 2 and 3, and 4 to 7
	VMOVDQU64 (BX)(R10*1), Z19
	VPANDNQ  Z17, Z19, Z18
	VPTESTMQ Z18, Z18, K1
	KORTESTB K1, K1
	JEQ      there512
	VMOVQ    X17, AX
	VPEXTRQ       $1, X17, R8
	VEXTRACTI64X2 $1, Y17, X18
	VEXTRACTI64X4 $1, Z17, Y17
	HOLD
	MOVQ      8(DI), R9
	VMOVDQU64 16(DI), X19
	VMOVDQU64 32(DI), Y20
	VPANDNQ   X18, X19, X21
	VPANDNQ   Y17, Y20, Y22
	VPORQ     X18, X19, X19
	VPORQ     Y17, Y20, Y20
	VPORQ     Y21, Y22, Y22
	ORQ       R9, R8
	MOVQ      R8, 8(DI)
	VMOVDQU64 X19, 16(DI)
	VMOVDQU64 Y20, 32(DI)
	MOVQ      AX, (DI)
	VPTESTMQ  Y22, Y22, K1
	KMOVB     K1, R10
	XORQ      CX, AX
	XORQ      R9, R8
	ORQ       R10, AX
	ORQ       R8, AX
	SETNE     ret+16(FP)
	RET

there512:
	VMOVQ X17, R8
	THERE
	MOVB  $0, ret+16(FP)
	RET

other:
	CMPL    CX, $AVX2_EIGHT
	JNE     other2
	VPBROADCASTQ one<>(SB), Y0
	ONE_INDEX
	IMULQ   mul1<>(SB), DX
	ANDQ    six<>(SB), DX
	ONE_COUNTS(DX, X1, Y1, X2, Y2)
	VPSLLVQ Y1, Y0, Y1
	VPSLLVQ Y2, Y0, Y2

masked2: // Y1, Y2 = the mask; X1 becomes lanes 2 and 3
	BLOCK
	VPANDN Y1, Y3, Y5
	VPANDN Y2, Y4, Y6
	VPOR   Y5, Y6, Y5
	VPTEST Y5, Y5
	JEQ    there2
	VMOVQ  X1, AX
	VPEXTRQ      $1, X1, R8
	VEXTRACTI128 $1, Y1, X1
	HOLD
	MOVQ    8(DI), R9
	VMOVDQU 16(DI), X3
	VMOVDQU 32(DI), Y4
	VPANDN  X1, X3, X5
	VPANDN  Y2, Y4, Y6
	VPOR    X1, X3, X1
	VPOR    Y2, Y4, Y2
	VPOR    Y5, Y6, Y5
	ORQ     R9, R8
	MOVQ    R8, 8(DI)
	VMOVDQU X1, 16(DI)
	VMOVDQU Y2, 32(DI)
	MOVQ    AX, (DI)
	XORQ    R9, R8
	XORQ    CX, AX
	ORQ     R8, AX
	XORL    R10, R10
	VPTEST  Y5, Y5
	SETNE   R10
	ORQ     R10, AX
	SETNE   ret+16(FP)
	VZEROUPPER
	RET

there2:
	VMOVQ X1, R8
	THERE
	MOVB  $0, ret+16(FP)
	VZEROUPPER
	RET

other2:
	CMPL CX, $AVX512_LOW
	JNE  other3
	ONE_INDEX_LANE
	VPBROADCASTQ one<>(SB), Z16
	ONE_MASK512(R9, Z17)
	KMOVB       bitsOf_(R12)(R13*8), K3
	VMOVDQA64.Z Z17, K3, Z17
	JMP         masked512

other3:
	CMPL CX, $AVX512_HIGH
	JNE  other4
	ONE_INDEX_LANE
	SECOND
	VPBROADCASTQ one<>(SB), Z16
	ONE_MASK512(R9, Z17)
	ONE_MASK512(AX, Z18)
	KMOVB bitsOf_(R12)(R13*8), K3
	VPORQ Z18, Z17, K3, Z17
	JMP   masked512

other4:
	CMPL CX, $AVX2_LOW
	JNE  other5
	VPBROADCASTQ one<>(SB), Y0
	ONE_INDEX_LANE
	ONE_MASK2_LOW
	JMP  masked2

other5:
	CMPL CX, $AVX2_HIGH
	JNE  generic
	VPBROADCASTQ one<>(SB), Y0
	ONE_INDEX_LANE
	ONE_MASK2_HIGH
	JMP  masked2

full:
	MOVQ CX, (DI) // as it was

held:
	VZEROUPPER

generic:
	JMP ·addSharedGo(SB)
