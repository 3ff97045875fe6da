//go:build !purego

#include "textflag.h"

// The arm64 kernels, in NEON. dispatch.go has their contract, block_generic.go the same work in Go.
//
// A key's block is at bits + 64*floor(h*N / 2^64): the high half of UMULH, shifted left by six. Its bit numbers are the eight bytes of
// g = h*mul1, modulo 64: byte l for lane l. Both products are made in general registers, and g moves to a vector register.
//
// A lookup wants one byte of each lane. A bit number is a byte's number in the lane, bits 3 to 5, and a bit's number in the byte, bits 0 to 2;
// with 8l on top of the byte's number it is the number of a byte in the block, and one TBL with the block as its table of 64 bytes brings the right byte
// of every lane together: byte l is from lane l. Sixteen places are two keys with one round each (k <= 8) or one key with two (k > 8).
//
//	k = 8    each byte is shifted left until the bit in question is bit 7. The minimum of a key's eight bytes has bit 7 set if all have it.
//	others   a second table makes the mask 1<<(bit number mod 8) from the bit number, and 0 from the skip byte 0x40 of a lane that takes
//	         no part. Where mask and byte meet, the byte becomes -1, and a key's bytes add up to -k if all its probes are set.
//
// An add wants a mask of the whole block: byte l of g goes to the bottom of 64-bit lane l, USHL shifts a 1 left by it, and the mask is or-ed
// into the block. USHL looks at the lowest byte of a lane only, so that what stands above it does no harm, and a count of 64 or
// more, which is what the skip byte makes, leaves nothing.
//
// Cycles a key, as llvm-mca 19 counts the loops as they are assembled; nothing here was timed on a machine:
//
//	                 neoverse-v2  neoverse-n1
//	lookup   k = 8          2.2          7.0
//	         k < 8          3.0         10.5
//	         k > 8          3.8         14.0
//	add      k = 8          3.3          8.8
//	         k < 8          4.8         10.1
//	         k > 8          8.0         15.0
//
// N1 has one multiplier, which a 64-bit product holds for three cycles: its lookups wait for nothing else. Counted too, for k = 8, and not taken:
//
//	lookup, each lane shifted by its own count (4 TBL, 4 USHL, 3 AND a key)    3.3   7.0
//	lookup, two TBL of two registers a key and what joins them                 2.1   7.0
//	lookup, products of 32-bit halves in vector registers                      2.7   5.6
//	lookup, g to a vector register through the stack                           2.5   6.2
//	add, all lanes in vector registers                                         4.8   8.2
//
// A single lookup (k = 8) counts 4.0 and 8.9 where the results are independent and 22 and 28 where each waits for the one before. In general
// registers, a shift for each lane, it would be 5.1 and 12.9, but 16 and 23: shorter, and more of it.
//
// R18 belongs to the platform, R27 to the assembler, R28 is g. R16, R17 and R26 are left alone as well.

// func, offsets and numbers of dispatch.go
#define bits_   0
#define lanes_  16
#define kernel_ 24
#define k_      26

// kernel | class<<8, as two bytes of the header read together
#define NEON_LOW   0x0003
#define NEON_EIGHT 0x0103
#define NEON_HIGH  0x0203

// six: the low six bits of every byte
#define six 0x3F3F3F3F3F3F3F3F

// lookup: what lookups use, in one place so that one address finds it
//
//	0   8l in byte l, twice
//	16  1<<l in byte l, twice; beyond its 16 bytes a table has zeros
//	32  the layout's multipliers mul1 and mul2
DATA lookup<>+0(SB)/8, $0x3830282018100800
DATA lookup<>+8(SB)/8, $0x3830282018100800
DATA lookup<>+16(SB)/8, $0x8040201008040201
DATA lookup<>+24(SB)/8, $0x8040201008040201
DATA lookup<>+32(SB)/8, $0x9E3779B97F4A7C15
DATA lookup<>+40(SB)/8, $0xC2B2AE3D27D4EB4F
GLOBL lookup<>(SB), RODATA|NOPTR, $48

// adds: what adds use
//
//	0   l at the bottom of 64-bit lane l, four times two lanes
//	64  -32 and -40 at the bottom of two lanes: as counts to the left, these shift bytes 4 and 5 of a quadword to the bottom
//	80  mul1 and mul2
DATA adds<>+0(SB)/8, $0
DATA adds<>+8(SB)/8, $1
DATA adds<>+16(SB)/8, $2
DATA adds<>+24(SB)/8, $3
DATA adds<>+32(SB)/8, $4
DATA adds<>+40(SB)/8, $5
DATA adds<>+48(SB)/8, $6
DATA adds<>+56(SB)/8, $7
DATA adds<>+64(SB)/8, $0xE0
DATA adds<>+72(SB)/8, $0xD8
DATA adds<>+80(SB)/8, $0x9E3779B97F4A7C15
DATA adds<>+88(SB)/8, $0xC2B2AE3D27D4EB4F
GLOBL adds<>(SB), RODATA|NOPTR, $96

// ---- Registers

#define BITS  R1  // the first block
#define N     R2  // the number of blocks
#define M1    R3  // mul1
#define M2    R4  // mul2
#define LANES R5  // lane table
#define HS    R6  // the next hashes
#define DST   R7  // the next answers
#define LEFT  R8  // keys still to do
#define AHEAD R9  // keys still to be ahead with
#define H0    R10 // a hash, and the next one
#define H1    R11
#define G0    R12 // their g, in the end their bit numbers as bytes
#define G1    R13
#define A0    R14 // their blocks
#define A1    R15
#define T0    R19 // scratch
#define T1    R20
#define L6    R21 // lanes 6 and 7 of a block
#define L7    R22
#define P6    R23 // the masks of lanes 6 and 7
#define P7    R24
#define ONE   R25 // 1

// V0-V7 are one key's block and its masks, or two keys' blocks. V8-V15 are what a turn of eight keys has found so far. V16-V23 are scratch.
#define BASE  V24 // lookups: 8l in byte l
#define BIT   V25 // 1<<l in byte l
#define SEVEN V26 // 7 in every byte
#define RANGE V27 // 0x47 in every byte: a bit's number in its byte, and the skip bit
#define NONE  V28 // 0
#define WANT  V29 // -k in every byte

#define SPREAD01 V24 // adds: the numbers of the lanes
#define SPREAD23 V25
#define SPREAD45 V26
#define SPREAD67 V27
#define DOWN     V26
#define ONES     V29 // 1 in every 64-bit lane
#define ONEB     V30 // 1 in every byte

// ---- Instructions that the assembler does not have
//
// The arguments are the numbers of V registers, in the assembler's order: the destination comes last.

// USHL Vd.16B, Vn.16B, Vm.16B: Vn's bytes shifted left by those of Vm
#define USHL_B16(m, n, d) WORD $(0x6E204400 | (m)<<16 | (n)<<5 | (d))

// USHL Vd.2D, Vn.2D, Vm.2D: Vn's lanes shifted left by the lowest byte of those of Vm
#define USHL_D2(m, n, d) WORD $(0x6EE04400 | (m)<<16 | (n)<<5 | (d))

// BIC Vd.16B, Vn.16B, Vm.16B: the bits of Vn that Vm has not
#define BIC_B16(m, n, d) WORD $(0x4E601C00 | (m)<<16 | (n)<<5 | (d))

// UMINP Vd.16B, Vn.16B, Vm.16B: the minimum of each two neighbours, those of Vn before those of Vm
#define UMINP_B16(m, n, d) WORD $(0x6E20AC00 | (m)<<16 | (n)<<5 | (d))

// UMAXP Vd.4S, Vn.4S, Vm.4S: the maximum of each two neighbours
#define UMAXP_S4(m, n, d) WORD $(0x6EA0A400 | (m)<<16 | (n)<<5 | (d))

// ---- What single operations and batches share

// From the header at R0
#define HEADER LDP bits_(R0), (BITS, N)

#define HEADER_LANES \
	HEADER; \
	MOVD lanes_(R0), LANES

// a = h's block. An ADD with its operand shifted by more than 4 goes to the multiplier on Neoverse, which has enough to do.
#define BLOCK(h, a) \
	UMULH N, h, a; \
	LSL   $6, a;   \
	ADD   BITS, a

// g = h's g1; t = the skip word for the start lane
#define FIRST(h, g, t) \
	MUL   M1, h, g; \
	UMULH M1, h, t; \
	AND   $7, t;    \
	MOVD  (LANES)(t<<3), t

// g = h's bit numbers for k < 8: byte l is below 64 where lane l takes part and not below where it does not
#define NUMBERS_LOW(h, g, t) \
	FIRST(h, g, t); \
	AND $six, g;    \
	ORR t, g

// g = h's bit numbers of round one, g2 those of round two, as above
#define NUMBERS_HIGH(h, g, g2, t) \
	FIRST(h, g, t);   \
	EOR g>>32, g, g2; \
	MUL M2, g2;       \
	AND $six, g;      \
	AND $six, g2;     \
	ORR t, g2

// ---- Lookups

#define CONSTANTS \
	MOVD  $lookup<>(SB), T0; \
	FLDPQ (T0), (F24, F25);  \
	MOVD  32(T0), M1;        \
	VMOVI $7, SEVEN.B16;     \
	VMOVI $0, NONE.B16

#define CONSTANTS_RANGE \
	CONSTANTS; \
	VMOVI $0x47, RANGE.B16

#define CONSTANTS_RANGE_HIGH \
	CONSTANTS_RANGE; \
	MOVD  40(T0), M2

// V20 = g and the next one
#define JOIN(g, next) \
	FMOVD g, F20;    \
	FMOVD next, F21; \
	VZIP1 V21.D2, V20.D2, V20.D2

// V21 = the numbers of the bytes that V20's bit numbers are in
#define PLACES \
	VUSHR $3, V20.B16, V21.B16; \
	VBIF  SEVEN.B16, BASE.B16, V21.B16

// V20 = the masks for V20's bit numbers in their bytes. With RANGE, a number with the skip bit, which lies outside the table, gives no mask.
// With SEVEN there is no skip bit, and what else stands in bit 6 is of no account.
#define BYTE_MASKS(range) \
	VAND range.B16, V20.B16, V20.B16; \
	VTBL V20.B16, [BIT.B16], V20.B16

#define LOAD_A(a) \
	FLDPQ (a), (F0, F1); \
	FLDPQ 32(a), (F2, F3)

#define LOAD_B(a) \
	FLDPQ (a), (F4, F5); \
	FLDPQ 32(a), (F6, F7)

// V22 = the bytes of V0-V3 at the places V21
#define GATHER_A VTBL V21.B16, [V0.B16, V1.B16, V2.B16, V3.B16], V22.B16

// V22 = eight bytes of V0-V3 and eight of V4-V7
#define GATHER_AB \
	GATHER_A;                                                \
	VTBL V21.B16, [V4.B16, V5.B16, V6.B16, V7.B16], V23.B16; \
	VMOV V23.D[1], V22.D[1]

// The next two keys, at o from HS: their 16 bytes go to V8+p, each with the bit in question as bit 7. To shift it there takes 7 minus
// its number, which is the number's complement in three bits.
#define CONTAINS2(o, p) \
	LDP  o(HS), (H0, H1);              \
	MUL  M1, H0, G0;                   \
	MUL  M1, H1, G1;                   \
	BLOCK(H0, A0);                     \
	BLOCK(H1, A1);                     \
	JOIN(G0, G1);                      \
	PLACES;                            \
	VBSL SEVEN.B16, NONE.B16, V20.B16; \
	LOAD_A(A0);                        \
	LOAD_B(A1);                        \
	GATHER_AB;                         \
	USHL_B16(20, 22, 8+p)

// Four times two keys to eight answers
#define CONTAINS8 \
	CONTAINS2(0, 0);            \
	CONTAINS2(16, 1);           \
	CONTAINS2(32, 2);           \
	CONTAINS2(48, 3);           \
	UMINP_B16(9, 8, 8);         \
	UMINP_B16(11, 10, 10);      \
	UMINP_B16(10, 8, 8);        \
	UMINP_B16(8, 8, 8);         \
	VUSHR   $7, V8.B16, V8.B16; \
	FMOVD.P F8, 8(DST)

// The next two keys: hits has -1 for each probe that is set
#define CONTAINS2_LOW(o, hits) \
	LDP  o(HS), (H0, H1);    \
	NUMBERS_LOW(H0, G0, T0); \
	NUMBERS_LOW(H1, G1, T1); \
	BLOCK(H0, A0);           \
	BLOCK(H1, A1);           \
	JOIN(G0, G1);            \
	PLACES;                  \
	BYTE_MASKS(RANGE);       \
	LOAD_A(A0);              \
	LOAD_B(A1);              \
	GATHER_AB;               \
	VCMTST V20.B16, V22.B16, hits.B16

// Sums of two keys a register to eight answers
#define COUNTED \
	VADDP V9.B16, V8.B16, V8.B16;    \
	VADDP V11.B16, V10.B16, V10.B16; \
	VADDP V10.B16, V8.B16, V8.B16;   \
	VADDP V8.B16, V8.B16, V8.B16;    \
	VCMEQ WANT.B16, V8.B16, V8.B16;  \
	VUSHR $7, V8.B16, V8.B16;        \
	FMOVD.P F8, 8(DST)

#define CONTAINS8_LOW \
	CONTAINS2_LOW(0, V8);   \
	CONTAINS2_LOW(16, V9);  \
	CONTAINS2_LOW(32, V10); \
	CONTAINS2_LOW(48, V11); \
	COUNTED

// One key: hits has -1 for each probe that is set, round one's before round two's
#define CONTAINS1_HIGH(h, hits) \
	NUMBERS_HIGH(h, G0, G1, T0); \
	BLOCK(h, A0);                \
	JOIN(G0, G1);                \
	PLACES;                      \
	BYTE_MASKS(RANGE);           \
	LOAD_A(A0);                  \
	GATHER_A;                    \
	VCMTST V20.B16, V22.B16, hits.B16

#define CONTAINS2_HIGH(o, hits) \
	LDP   o(HS), (H0, H1);   \
	CONTAINS1_HIGH(H0, V16); \
	CONTAINS1_HIGH(H1, V17); \
	VADDP V17.B16, V16.B16, hits.B16

#define CONTAINS8_HIGH \
	CONTAINS2_HIGH(0, V8);   \
	CONTAINS2_HIGH(16, V9);  \
	CONTAINS2_HIGH(32, V10); \
	CONTAINS2_HIGH(48, V11); \
	COUNTED

// ---- Adds

#define CONSTANTS_ADD_EIGHT \
	MOVD  $adds<>(SB), T0;  \
	FLDPQ (T0), (F24, F25); \
	FMOVQ 64(T0), F26;      \
	MOVD  80(T0), M1;       \
	MOVD  $1, ONE;          \
	VDUP  ONE, ONES.D2

#define CONSTANTS_ADD \
	MOVD  $adds<>(SB), T0;    \
	FLDPQ (T0), (F24, F25);   \
	FLDPQ 32(T0), (F26, F27); \
	MOVD  80(T0), M1;         \
	MOVD  $1, ONE;            \
	VDUP  ONE, ONES.D2

#define CONSTANTS_ADD_HIGH \
	CONSTANTS_ADD; \
	MOVD  88(T0), M2

// V4-V7 = the mask of V20's bit numbers
#define MASKS \
	VTBL SPREAD01.B16, [V20.B16], V4.B16; \
	VTBL SPREAD23.B16, [V20.B16], V5.B16; \
	VTBL SPREAD45.B16, [V20.B16], V6.B16; \
	VTBL SPREAD67.B16, [V20.B16], V7.B16; \
	USHL_D2(4, 29, 4);                    \
	USHL_D2(5, 29, 5);                    \
	USHL_D2(6, 29, 6);                    \
	USHL_D2(7, 29, 7)

// V4-V7 get the mask of V21's bit numbers as well
#define MORE_MASKS \
	VTBL SPREAD01.B16, [V21.B16], V16.B16; \
	VTBL SPREAD23.B16, [V21.B16], V17.B16; \
	VTBL SPREAD45.B16, [V21.B16], V18.B16; \
	VTBL SPREAD67.B16, [V21.B16], V19.B16; \
	USHL_D2(16, 29, 16);                   \
	USHL_D2(17, 29, 17);                   \
	USHL_D2(18, 29, 18);                   \
	USHL_D2(19, 29, 19);                   \
	VORR V16.B16, V4.B16, V4.B16;          \
	VORR V17.B16, V5.B16, V5.B16;          \
	VORR V18.B16, V6.B16, V6.B16;          \
	VORR V19.B16, V7.B16, V7.B16

// V0-V3 = the block at a as it was, V4-V7 and the block get the mask V4-V7
#define SET(a) \
	LOAD_A(a);                   \
	VORR V0.B16, V4.B16, V4.B16; \
	VORR V1.B16, V5.B16, V5.B16; \
	VORR V2.B16, V6.B16, V6.B16; \
	VORR V3.B16, V7.B16, V7.B16; \
	FSTPQ (F4, F5), (a);         \
	FSTPQ (F6, F7), 32(a)

// new = the bits that V0-V3 have and V4-V7 have not, or the other way round, of all lanes together: nothing where the key was not absent
#define CHANGED(new) \
	VEOR V4.B16, V0.B16, V0.B16; \
	VEOR V5.B16, V1.B16, V1.B16; \
	VEOR V6.B16, V2.B16, V2.B16; \
	VEOR V7.B16, V3.B16, V3.B16; \
	VORR V1.B16, V0.B16, V0.B16; \
	VORR V3.B16, V2.B16, V2.B16; \
	VORR V2.B16, V0.B16, new.B16

// Eight registers, of which UMAXP_S4 has made the four V8-V11, to eight answers: 1 where a register was not 0
#define ABSENT8 \
	UMAXP_S4(9, 8, 8);              \
	UMAXP_S4(11, 10, 10);           \
	VCMEQ NONE.S4, V8.S4, V8.S4;    \
	VCMEQ NONE.S4, V10.S4, V10.S4;  \
	VUZP1 V10.H8, V8.H8, V8.H8;     \
	VUZP1 V8.B16, V8.B16, V8.B16;   \
	VADD  ONEB.B16, V8.B16, V8.B16; \
	FMOVD.P F8, 8(DST)

#define CONSTANTS_ABSENT \
	VMOVI $0, NONE.B16; \
	VMOVI $1, ONEB.B16

// With k = 8 the last two lanes are left to the general registers: Neoverse stores vectors through the two pipes that TBL needs, and those are
// what an add waits for. For the same reason lanes 4 and 5 are spread by a shift.
//
// A0 = h's block; V0-V2, L6 and L7 = its lanes; V4-V6, P6 and P7 = h's mask
#define MASKS_EIGHT(h) \
	MUL   M1, h, G0;                       \
	BLOCK(h, A0);                          \
	AND   $six, G0;                        \
	VDUP  G0, V20.D2;                      \
	VTBL  SPREAD01.B16, [V20.B16], V4.B16; \
	VTBL  SPREAD23.B16, [V20.B16], V5.B16; \
	USHL_D2(26, 20, 6);                    \
	USHL_D2(4, 29, 4);                     \
	USHL_D2(5, 29, 5);                     \
	USHL_D2(6, 29, 6);                     \
	LSR   $48, G0, P6;                     \
	LSR   $56, G0, P7;                     \
	LSL   P6, ONE, P6;                     \
	LSL   P7, ONE, P7;                     \
	FLDPQ (A0), (F0, F1);                  \
	FMOVQ 32(A0), F2;                      \
	LDP   48(A0), (L6, L7)

// The block at A0 gets the mask
#define SET_EIGHT \
	VORR  V0.B16, V4.B16, V4.B16; \
	VORR  V1.B16, V5.B16, V5.B16; \
	VORR  V2.B16, V6.B16, V6.B16; \
	ORR   L6, P6, T0;             \
	ORR   L7, P7, T1;             \
	FSTPQ (F4, F5), (A0);         \
	FMOVQ F6, 32(A0);             \
	STP   (T0, T1), 48(A0)

#define ADD1(h) \
	MASKS_EIGHT(h); \
	SET_EIGHT

#define ADD2(o) \
	LDP o(HS), (H0, H1); \
	ADD1(H0);            \
	ADD1(H1)

#define ADD8 \
	ADD2(0);  \
	ADD2(16); \
	ADD2(32); \
	ADD2(48)

// As ADD1; new is 0 where the key was not absent
#define ADDABSENT1(h, new) \
	MASKS_EIGHT(h);               \
	SET_EIGHT;                    \
	BIC   L6, P6;                 \
	BIC   L7, P7;                 \
	ORR   P7, P6;                 \
	FMOVD P6, F3;                 \
	VEOR  V4.B16, V0.B16, V0.B16; \
	VEOR  V5.B16, V1.B16, V1.B16; \
	VEOR  V6.B16, V2.B16, V2.B16; \
	VORR  V1.B16, V0.B16, V0.B16; \
	VORR  V3.B16, V2.B16, V2.B16; \
	VORR  V2.B16, V0.B16, new.B16

#define ADDABSENT2(o, p) \
	LDP o(HS), (H0, H1); \
	ADDABSENT1(H0, V22); \
	ADDABSENT1(H1, V23); \
	UMAXP_S4(23, 22, 8+p)

#define ADDABSENT8 \
	ADDABSENT2(0, 0);  \
	ADDABSENT2(16, 1); \
	ADDABSENT2(32, 2); \
	ADDABSENT2(48, 3); \
	ABSENT8

// A0 = h's block, V4-V7 = the mask
#define MASKS_LOW(h) \
	NUMBERS_LOW(h, G0, T0); \
	BLOCK(h, A0);           \
	FMOVD G0, F20;          \
	MASKS

// The same with k = 8, for what wants all of it in vectors
#define MASKS_ALL(h) \
	MUL   M1, h, G0; \
	BLOCK(h, A0);    \
	AND   $six, G0;  \
	FMOVD G0, F20;   \
	MASKS

#define ADD2_LOW(o) \
	LDP o(HS), (H0, H1); \
	MASKS_LOW(H0);       \
	SET(A0);             \
	MASKS_LOW(H1);       \
	SET(A0)

#define ADD8_LOW \
	ADD2_LOW(0);  \
	ADD2_LOW(16); \
	ADD2_LOW(32); \
	ADD2_LOW(48)

#define ADDABSENT2_LOW(o, p) \
	LDP o(HS), (H0, H1); \
	MASKS_LOW(H0);       \
	SET(A0);             \
	CHANGED(V22);        \
	MASKS_LOW(H1);       \
	SET(A0);             \
	CHANGED(V23);        \
	UMAXP_S4(23, 22, 8+p)

#define ADDABSENT8_LOW \
	ADDABSENT2_LOW(0, 0);  \
	ADDABSENT2_LOW(16, 1); \
	ADDABSENT2_LOW(32, 2); \
	ADDABSENT2_LOW(48, 3); \
	ABSENT8

// The same for both rounds
#define MASKS_HIGH(h) \
	NUMBERS_HIGH(h, G0, G1, T0); \
	BLOCK(h, A0);                \
	FMOVD G0, F20;               \
	FMOVD G1, F21;               \
	MASKS;                       \
	MORE_MASKS

#define ADD2_HIGH(o) \
	LDP o(HS), (H0, H1); \
	MASKS_HIGH(H0);      \
	SET(A0);             \
	MASKS_HIGH(H1);      \
	SET(A0)

#define ADD8_HIGH \
	ADD2_HIGH(0);  \
	ADD2_HIGH(16); \
	ADD2_HIGH(32); \
	ADD2_HIGH(48)

#define ADDABSENT2_HIGH(o, p) \
	LDP o(HS), (H0, H1); \
	MASKS_HIGH(H0);      \
	SET(A0);             \
	CHANGED(V22);        \
	MASKS_HIGH(H1);      \
	SET(A0);             \
	CHANGED(V23);        \
	UMAXP_S4(23, 22, 8+p)

#define ADDABSENT8_HIGH \
	ADDABSENT2_HIGH(0, 0);  \
	ADDABSENT2_HIGH(16, 1); \
	ADDABSENT2_HIGH(32, 2); \
	ADDABSENT2_HIGH(48, 3); \
	ABSENT8

// ---- Batches

#define ARGS_DST \
	MOVD f+0(FP), R0;    \
	MOVD dst+8(FP), DST; \
	MOVD hs+16(FP), HS;  \
	MOVD n+24(FP), LEFT; \
	MOVD ahead+32(FP), AHEAD

#define ARGS \
	MOVD f+0(FP), R0;    \
	MOVD hs+8(FP), HS;   \
	MOVD n+16(FP), LEFT; \
	MOVD ahead+24(FP), AHEAD

// Fetch the blocks of the two keys at o from hs
#define FETCH2(o, hs) \
	LDP  o(hs), (H0, H1); \
	BLOCK(H0, A0);        \
	BLOCK(H1, A1);        \
	PRFM (A0), PLDL1KEEP; \
	PRFM (A1), PLDL1KEEP

#define FETCH8(hs) \
	FETCH2(0, hs);  \
	FETCH2(16, hs); \
	FETCH2(32, hs); \
	FETCH2(48, hs)

// Take TURN for every eight keys. While ahead lasts, eight blocks are fetched before it, 128 keys (prefetchWindow) further on.
#define LOOP(TURN) \
	PCALIGN $32;        \
next: ;                     \
	CBZ  AHEAD, turn;   \
	ADD  $1024, HS, T0; \
	FETCH8(T0);         \
	SUB  $8, AHEAD;     \
turn: ;                     \
	TURN;               \
	ADD  $64, HS;       \
	SUBS $8, LEFT;      \
	BNE  next

// WANT = -k
#define COUNT_WANTED \
	MOVBU k_(R0), T0; \
	NEG   T0, T0;     \
	VDUP  T0, WANT.B16

// ---- Single operations

#define ARGS_SINGLE \
	LDP   f+0(FP), (R0, H0); \
	MOVHU kernel_(R0), T0

// V22 = the bits of the masks V20 that the bytes of the block at A0 at the places V21 have not
#define MISSES \
	LOAD_A(A0); \
	GATHER_A;   \
	VBSL V20.B16, NONE.B16, V22.B16

// T0 = all of V22
#define ALL_OF_V22 \
	VMOV V22.D[0], T0; \
	VMOV V22.D[1], T1; \
	ORR  T1, T0

// ---- The functions
//
// Batches need n, a multiple of 8 and not 0, and ahead, a multiple of 8; they read hs[0:n], and for i < ahead also hs[128+i], and nothing on either side. A
// block is loaded after the stores of all keys before, so that keys may repeat and share blocks. Blocks may lie at any address.

// func prefetchBatchNEON(f *header, hs *uint64, n int)
//
// Fetches the blocks of hs[0:n].
TEXT ·prefetchBatchNEON(SB), NOSPLIT|NOFRAME, $0-24
	MOVD f+0(FP), R0
	MOVD hs+8(FP), HS
	MOVD n+16(FP), LEFT
	LDP  bits_(R0), (BITS, N)

fetch:
	FETCH8(HS)
	ADD  $64, HS
	SUBS $8, LEFT
	BNE  fetch
	RET

// func containsEightBatchNEON(f *header, dst *bool, hs *uint64, n, ahead int)
//
// Sets dst[i] to whether every probe of hs[i] is set, for i < n and k = 8.
TEXT ·containsEightBatchNEON(SB), NOSPLIT|NOFRAME, $0-40
	ARGS_DST
	HEADER
	CONSTANTS
	LOOP(CONTAINS8)
	RET

// func containsLowBatchNEON(f *header, dst *bool, hs *uint64, n, ahead int)
//
// The same for k < 8.
TEXT ·containsLowBatchNEON(SB), NOSPLIT|NOFRAME, $0-40
	ARGS_DST
	HEADER_LANES
	CONSTANTS_RANGE
	COUNT_WANTED
	LOOP(CONTAINS8_LOW)
	RET

// func containsHighBatchNEON(f *header, dst *bool, hs *uint64, n, ahead int)
//
// The same for k > 8.
TEXT ·containsHighBatchNEON(SB), NOSPLIT|NOFRAME, $0-40
	ARGS_DST
	HEADER_LANES
	CONSTANTS_RANGE_HIGH
	COUNT_WANTED
	LOOP(CONTAINS8_HIGH)
	RET

// func addEightBatchNEON(f *header, hs *uint64, n, ahead int)
//
// Sets every probe of hs[0:n], for k = 8.
TEXT ·addEightBatchNEON(SB), NOSPLIT|NOFRAME, $0-32
	ARGS
	HEADER
	CONSTANTS_ADD_EIGHT
	LOOP(ADD8)
	RET

// func addLowBatchNEON(f *header, hs *uint64, n, ahead int)
//
// The same for k < 8.
TEXT ·addLowBatchNEON(SB), NOSPLIT|NOFRAME, $0-32
	ARGS
	HEADER_LANES
	CONSTANTS_ADD
	LOOP(ADD8_LOW)
	RET

// func addHighBatchNEON(f *header, hs *uint64, n, ahead int)
//
// The same for k > 8.
TEXT ·addHighBatchNEON(SB), NOSPLIT|NOFRAME, $0-32
	ARGS
	HEADER_LANES
	CONSTANTS_ADD_HIGH
	LOOP(ADD8_HIGH)
	RET

// func addIfAbsentEightBatchNEON(f *header, dst *bool, hs *uint64, n, ahead int)
//
// Sets every probe of hs[0:n] in order, and dst[i] to whether one of hs[i] was not set before, for k = 8.
TEXT ·addIfAbsentEightBatchNEON(SB), NOSPLIT|NOFRAME, $0-40
	ARGS_DST
	HEADER
	CONSTANTS_ADD_EIGHT
	CONSTANTS_ABSENT
	LOOP(ADDABSENT8)
	RET

// func addIfAbsentLowBatchNEON(f *header, dst *bool, hs *uint64, n, ahead int)
//
// The same for k < 8.
TEXT ·addIfAbsentLowBatchNEON(SB), NOSPLIT|NOFRAME, $0-40
	ARGS_DST
	HEADER_LANES
	CONSTANTS_ADD
	CONSTANTS_ABSENT
	LOOP(ADDABSENT8_LOW)
	RET

// func addIfAbsentHighBatchNEON(f *header, dst *bool, hs *uint64, n, ahead int)
//
// The same for k > 8.
TEXT ·addIfAbsentHighBatchNEON(SB), NOSPLIT|NOFRAME, $0-40
	ARGS_DST
	HEADER_LANES
	CONSTANTS_ADD_HIGH
	CONSTANTS_ABSENT
	LOOP(ADDABSENT8_HIGH)
	RET

// Single operations take any header: those of other kernels, the zero header among them, go on to the Go function, which finds its arguments in their place.

// func contains(f *header, h uint64) bool
//
// Reports whether every probe of h is set.
TEXT ·contains(SB), NOSPLIT|NOFRAME, $0-17
	ARGS_SINGLE
	CMP   $NEON_EIGHT, T0
	BNE   low
	HEADER
	CONSTANTS
	MUL   M1, H0, G0
	BLOCK(H0, A0)
	FMOVD G0, F20
	PLACES
	BYTE_MASKS(SEVEN)
	MISSES
	FMOVD F22, T0

answer:
	CMP  $0, T0
	CSET EQ, T0
	MOVB T0, ret+16(FP)
	RET

low:
	CMP   $NEON_LOW, T0
	BNE   high
	HEADER_LANES
	CONSTANTS_RANGE
	NUMBERS_LOW(H0, G0, T0)
	BLOCK(H0, A0)
	FMOVD G0, F20
	PLACES
	BYTE_MASKS(RANGE)
	MISSES
	FMOVD F22, T0
	B     answer

high:
	CMP $NEON_HIGH, T0
	BNE generic
	HEADER_LANES
	CONSTANTS_RANGE_HIGH
	NUMBERS_HIGH(H0, G0, G1, T0)
	BLOCK(H0, A0)
	JOIN(G0, G1)
	PLACES
	BYTE_MASKS(RANGE)
	MISSES
	ALL_OF_V22
	B   answer

generic:
	B ·containsGeneric(SB)

// func add(f *header, h uint64)
//
// Sets every probe of h.
TEXT ·add(SB), NOSPLIT|NOFRAME, $0-16
	ARGS_SINGLE
	CMP $NEON_EIGHT, T0
	BNE low
	HEADER
	CONSTANTS_ADD_EIGHT
	ADD1(H0)
	RET

low:
	CMP $NEON_LOW, T0
	BNE high
	HEADER_LANES
	CONSTANTS_ADD
	MASKS_LOW(H0)
	SET(A0)
	RET

high:
	CMP $NEON_HIGH, T0
	BNE generic
	HEADER_LANES
	CONSTANTS_ADD_HIGH
	MASKS_HIGH(H0)
	SET(A0)
	RET

generic:
	B ·addGeneric(SB)

// func addIfAbsent(f *header, h uint64) bool
//
// Sets every probe of h and reports whether one of them was not set before.
TEXT ·addIfAbsent(SB), NOSPLIT|NOFRAME, $0-17
	ARGS_SINGLE
	CMP  $NEON_EIGHT, T0
	BNE  low
	HEADER
	CONSTANTS_ADD_EIGHT
	ADDABSENT1(H0, V22)

answer:
	ALL_OF_V22
	CMP  $0, T0
	CSET NE, T0
	MOVB T0, ret+16(FP)
	RET

low:
	CMP $NEON_LOW, T0
	BNE high
	HEADER_LANES
	CONSTANTS_ADD
	MASKS_LOW(H0)
	SET(A0)
	CHANGED(V22)
	B   answer

high:
	CMP $NEON_HIGH, T0
	BNE generic
	HEADER_LANES
	CONSTANTS_ADD_HIGH
	MASKS_HIGH(H0)
	SET(A0)
	CHANGED(V22)
	B   answer

generic:
	B ·addIfAbsentGeneric(SB)

// ---- One key, among other goroutines
//
// concurrent.go says how a block is held: its lane 0 has all bits set meanwhile. The block is looked at before, so that a key which is there takes no lock. It is held in code that the runtime cannot interrupt, for a load,
// an or and a store.
//
// Lane 0 is taken by a pair of exclusive instructions, which every arm64 processor has: where the store succeeds, nobody has written to the lane since the load. The load acquires, so that the other lanes are loaded after
// it, in vectors too, as the holder before has left them. Nothing is stored to them before the exclusive store is known to have succeeded. That the processor may make it visible after them does no harm: what others see of them
// are bits of the key, and of lane 0 its own. The last store, STLR of lane 0, which lets the block go, becomes visible after all before it.
//
// None of this was run on an arm64 machine, only under emulation, which reorders nothing; that it is right in any order is by the architecture's rules alone.

// func addShared(c *Concurrent, h uint64) bool
//
// Sets all probes of h in the midst of other addShared and lookups, and reports whether one was missing.
TEXT ·addShared(SB), NOSPLIT|NOFRAME, $0-17
	ARGS_SINGLE
	CMP $NEON_EIGHT, T0
	BNE low
	HEADER
	CONSTANTS_ADD
	MASKS_ALL(H0)

masked: // A0 = the block, V4-V7 = the mask
	LOAD_A(A0)
	BIC_B16(0, 4, 16)
	BIC_B16(1, 5, 17)
	BIC_B16(2, 6, 18)
	BIC_B16(3, 7, 19)
	VORR V17.B16, V16.B16, V16.B16
	VORR V19.B16, V18.B16, V18.B16
	VORR V18.B16, V16.B16, V22.B16
	VMOV V4.D[0], P6
	VMOV V4.D[1], P7
	ALL_OF_V22
	CBZ  T0, there
	MOVD $-1, T1

hold: // L6 = lane 0 as it was
	LDAXR (A0), L6
	CMN   $1, L6
	BEQ   held
	STXR  T1, (A0), T0
	CBNZ  T0, hold

	ORR   L6, P6, T0
	CMN   $1, T0
	BEQ   full
	MOVD  8(A0), L7
	FMOVQ 16(A0), F1
	FLDPQ 32(A0), (F2, F3)
	BIC_B16(1, 5, 16)
	BIC_B16(2, 6, 17)
	BIC_B16(3, 7, 18)
	VORR  V1.B16, V5.B16, V5.B16
	VORR  V2.B16, V6.B16, V6.B16
	VORR  V3.B16, V7.B16, V7.B16
	ORR   L7, P7, T1
	MOVD  T1, 8(A0)
	FMOVQ F5, 16(A0)
	FSTPQ (F6, F7), 32(A0)
	STLR  T0, (A0)
	VORR  V17.B16, V16.B16, V16.B16
	VORR  V18.B16, V16.B16, V22.B16
	BIC   L6, P6
	BIC   L7, P7
	ORR   P7, P6
	ALL_OF_V22
	ORR   P6, T0
	CMP   $0, T0
	CSET  NE, T0
	MOVB  T0, ret+16(FP)
	RET

// All bits were seen. Where somebody holds the block, what looked like the one in lane 0 may be none. The lane is loaded once more, alone, which is done in one piece: pieces of a holder's ones and of what was there before
// could have the bit and not be all ones.
there:
	MOVD (A0), T0
	CMN  $1, T0
	BEQ  held
	BIC  T0, P6
	CBNZ P6, held
	MOVB ZR, ret+16(FP)
	RET

low:
	CMP $NEON_LOW, T0
	BNE high
	HEADER_LANES
	CONSTANTS_ADD
	MASKS_LOW(H0)
	B   masked

high:
	CMP $NEON_HIGH, T0
	BNE held
	HEADER_LANES
	CONSTANTS_ADD_HIGH
	MASKS_HIGH(H0)
	B   masked

full: // as it was
	STLR L6, (A0)

held: // by somebody else, or lane 0 is full, or the kernel is another
	B ·addSharedGo(SB)
