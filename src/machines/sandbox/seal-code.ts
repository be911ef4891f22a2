/** The program's load address, and the offsets that its code refers to; the code itself is at `code`. */
export const base = 0x400000
export const offsets = { code: 0x100, program: 0x200, refusal: 0x240, failure: 0x280, filter: 0x300 } as const

const encode = (text: string) => new TextEncoder().encode(text)
/** What is written to stderr, each at most 64 bytes. */
export const refusal = encode("The kernel refuses the seccomp filter of this machine\n")
export const failure = encode("The machine's own shell can't be run\n")

/**
 * The same program for both processors. The system calls: close_range(4, ~0, 0), whose failure on a kernel before 5.9
 * is ignored; prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program); execve(argv[1], argv + 1, envp). When one of the
 * last two fails: write(2, message, length), exit_group(126 or 127).
 */
const x64 = [
  [0x48, 0x89, 0xe3], // mov rbx, rsp            the stack: argc, argv…, NULL, envp…, NULL
  [0xbf, 4, 0, 0, 0], // mov edi, 4              0 to 2 are stdio, 3 holds the machine's variables
  [0xbe, 0xff, 0xff, 0xff, 0xff], // mov esi, ~0 up to the highest
  [0x31, 0xd2], // xor edx, edx                  no flags
  [0xb8, 0xb4, 1, 0, 0], // mov eax, 436         close_range
  [0x0f, 0x05], // syscall
  [0xbf, 22, 0, 0, 0], // mov edi, 22            PR_SET_SECCOMP
  [0xbe, 2, 0, 0, 0], // mov esi, 2              SECCOMP_MODE_FILTER
  [0xba, 0x00, 0x02, 0x40, 0], // mov edx, 0x400200 the program
  [0xb8, 157, 0, 0, 0], // mov eax, 157          prctl
  [0x0f, 0x05], // syscall
  [0x85, 0xc0], // test eax, eax
  [0x75, 0x26], // jnz refused
  [0x48, 0x8d, 0x73, 0x10], // lea rsi, [rbx+16] argv + 1
  [0x48, 0x8b, 0x3e], // mov rdi, [rsi]          argv[1]
  [0x48, 0x8b, 0x03], // mov rax, [rbx]          argc
  [0x48, 0x8d, 0x14, 0xc6], // lea rdx, [rsi+rax*8] envp
  [0xb8, 59, 0, 0, 0], // mov eax, 59            execve
  [0x0f, 0x05], // syscall                       returns only on failure
  [0xbb, 127, 0, 0, 0], // mov ebx, 127          exit code
  [0xbe, 0x80, 0x02, 0x40, 0], // mov esi, 0x400280 message
  [0xba, failure.length, 0, 0, 0], // mov edx, … its length
  [0xeb, 0x0f], // jmp end
  [0xbb, 126, 0, 0, 0], // refused: mov ebx, 126
  [0xbe, 0x40, 0x02, 0x40, 0], // mov esi, 0x400240
  [0xba, refusal.length, 0, 0, 0], // mov edx, …
  [0xbf, 2, 0, 0, 0], // end: mov edi, 2         stderr
  [0xb8, 1, 0, 0, 0], // mov eax, 1              write
  [0x0f, 0x05], // syscall
  [0x89, 0xdf], // mov edi, ebx
  [0xb8, 231, 0, 0, 0], // mov eax, 231          exit_group
  [0x0f, 0x05] // syscall
].flat()

const arm64 = [
  0x910003f3, // mov x19, sp
  0x52800080, // mov w0, #4
  0x12800001, // mov w1, #-1
  0x52800002, // mov w2, #0
  0x52803688, // mov w8, #436                    close_range
  0xd4000001, // svc #0
  0x528002c0, // mov w0, #22                     PR_SET_SECCOMP
  0x52800041, // mov w1, #2                      SECCOMP_MODE_FILTER
  0x10000702, // adr x2, 0x200                   the program
  0x528014e8, // mov w8, #167                    prctl
  0xd4000001, // svc #0
  0x35000160, // cbnz w0, refused
  0xf9400269, // ldr x9, [x19]                   argc
  0x91004261, // add x1, x19, #16                argv + 1
  0xf9400020, // ldr x0, [x1]                    argv[1]
  0x8b090c22, // add x2, x1, x9, lsl #3          envp
  0x52801ba8, // mov w8, #221                    execve
  0xd4000001, // svc #0
  0x52800ff3, // mov w19, #127                   exit code
  0x100009a1, // adr x1, 0x280                   message
  0x52800002 | failure.length << 5, // mov w2, # its length
  0x14000004, // b end
  0x52800fd3, // refused: mov w19, #126
  0x10000721, // adr x1, 0x240
  0x52800002 | refusal.length << 5, // mov w2, #
  0x52800040, // end: mov w0, #2                 stderr
  0x52800808, // mov w8, #64                     write
  0xd4000001, // svc #0
  0x2a1303e0, // mov w0, w19
  0x52800bc8, // mov w8, #94                     exit_group
  0xd4000001 // svc #0
].flatMap((word) => [word & 0xff, word >>> 8 & 0xff, word >>> 16 & 0xff, word >>> 24])

/** By Node's name of the processor: the number ELF has for it, and the code. */
export const processors = {
  x64: { elf: 62, code: Uint8Array.from(x64) },
  arm64: { elf: 183, code: Uint8Array.from(arm64) }
} as const
