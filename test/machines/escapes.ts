/**
 * Attempts on a machine's walls, as programs for perl: it makes system calls as they are. Each prints what it got
 * hold of, or nothing. `$ARGV[0]` is a file of the host, `$ARGV[1]` the processor (Node's name).
 */
import { denied } from "#src/machines/sandbox/seccomp.ts"

/** The classic: a root within the root, the working directory left outside of it, and up. */
export const chrootEscape = `
mkdir "/tmp/cell"; mkdir "cell";
for my $cell ("/tmp/cell", "cell") {
  opendir(my $out, "/"); chroot($cell) or next; chdir($out);
  chdir("..") for 1..200; chroot(".");
  if (open my $f, "<", $ARGV[0]) { print <$f>; exit }
}
`

const calls = `
my $arm = $ARGV[1] eq "arm64";
my ($unshare, $mount, $setns) = $arm ? (97, 40, 268) : (272, 165, 308);
`

/** Full capabilities in a namespace of one's own, then the same. */
export const namespaceEscape = `${calls}
for my $flags (0x10000000, 0x10020000, 0x20000) {
  next if syscall($unshare, $flags) != 0;
  print "namespace ";
  mkdir "/tmp/cell"; opendir(my $out, "/"); chroot("/tmp/cell") or next; chdir($out);
  chdir("..") for 1..200; chroot(".");
  if (open my $f, "<", $ARGV[0]) { print <$f>; exit }
}
`

/** Remounting, mounting and joining what other processes have. */
export const mountEscape = `${calls}
my ($none, $slash, $mnt, $tmpfs, $proc) = ("none", "/", "/tmp", "tmpfs", "proc");
print "remounted " if syscall($mount, $none, $slash, 0, 32 | 4096, 0) == 0;
print "mounted " if syscall($mount, $none, $mnt, $tmpfs, 0, 0) == 0;
my @pids = do { opendir(my $d, "/proc"); grep /^\\d+$/, readdir $d };
for my $pid (@pids) { for my $kind ("mnt", "net", "pid", "user") { my $ns = "/proc/$pid/ns/$kind"; if (open my $f, "<", $ns) { print "joined $ns " if syscall($setns, fileno($f), 0) == 0 } } }
for my $pid (@pids) { if (open my $f, "<", "/proc/$pid/root$ARGV[0]") { print <$f> } }
`

/** Devices: a disk's node would be the disk. */
export const deviceEscape = `
if ($ARGV[1] eq "x64") { my $mknod = 133; my $path = "/tmp/disk"; print "made " if syscall($mknod, $path, 0060600, 0xfe00) == 0; }
for my $path ("/dev/mem", "/dev/kmem", "/dev/vda", "/dev/sda", "/dev/kmsg") { print "opened $path " if open my $f, "<", $path }
`

/** Writes that would make the host's kernel run something of ours. */
export const kernelEscape = `
for my $path ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger",
    "/proc/sys/kernel/hostname", "/proc/sys/fs/binfmt_misc/register", "/sys/kernel/uevent_helper",
    "/proc/sys/vm/drop_caches", "/proc/irq/default_smp_affinity") {
  print "opened $path " if open my $f, ">>", $path;
}
for my $path ("/proc/kcore", "/proc/keys") { if (open my $f, "<", $path) { read($f, my $b, 8); print "read $path " if length $b } }
`

export const forkBomb = `
$| = 1; my $n = 0;
for (1..3000) { my $p = fork; last unless defined $p; if ($p == 0) { close STDOUT; close STDERR; sleep 120; exit } $n++ }
print $n;
`

type Row = readonly [label: string, expected: "EPERM" | "ENOSYS" | "ok", number: number, ...args: ReadonlyArray<string>]

const [own, socket, clone] = process.arch === "arm64" ? [1, 198, 220] : [0, 41, 56]
const [stream, raw, seqpacket] = ["1", "3", "5"]
/** What the kernel takes for the same int: it does not look at the upper half of the register. */
const disguised = (value: number) => `0x${(0xabcdn << 32n | BigInt(value)).toString(16)}`

/** System calls, and what each comes to in every tier: what the seccomp filter refuses, and some that it must not. */
export const refusals: ReadonlyArray<Row> = [
  ...Object.entries(denied).flatMap(([name, numbers]): ReadonlyArray<Row> => {
    const number = numbers[own]
    return number === undefined ? [] : [[name, "EPERM", number]]
  }),
  ["clone3", "ENOSYS", 435],
  ...["user", "mount", "network", "pid", "ipc", "uts", "cgroup", "time"].map((name, i): Row => {
    const flags = [0x10000000, 0x20000, 0x40000000, 0x20000000, 0x8000000, 0x4000000, 0x2000000, 0x80]
    return [`clone with a new ${name} namespace`, "EPERM", clone, String(flags[i])]
  }),
  ["vsock", "EPERM", socket, "40", stream],
  ["vsock in disguise", "EPERM", socket, disguised(40), stream],
  ["alg", "EPERM", socket, "38", seqpacket],
  ["alg in disguise", "EPERM", socket, disguised(38), seqpacket],
  ["audit", "EPERM", socket, "16", raw, "9"],
  ["audit in disguise", "EPERM", socket, disguised(16), raw, disguised(9)],
  ["audit's family with another protocol", "ok", socket, "16", raw, "0"],
  ["inet", "ok", socket, "2", stream],
  ["inet6", "ok", socket, "10", stream],
  ["unix", "ok", socket, "1", stream]
]

const attempt = ([label, , number, ...args]: Row) => {
  const six = [number, ...args, ...Array(6 - args.length).fill("0")].join(", ")
  return `try("${label}", syscall(${six}));`
}

/** Prints a line for each row: its label, and what the call came to. A new process (clone) ends at once. */
export const tryRefusals = `
my %names = (1 => "EPERM", 38 => "ENOSYS"); $| = 1;
sub try { my ($label, $r) = @_; my $e = $! + 0; exit if $r == 0 && $label =~ /^clone/;
  print "$label: ", ($r >= 0 ? "ok" : $names{$e} // $e), "\\n" }
${refusals.map(attempt).join("\n")}
`

/** Calls by the x32 convention, which has numbers of its own for the same: prints the signal that ends it. */
export const otherConvention = `
my $pid = fork; if ($pid == 0) { syscall(0x40000000 | 39); exit } waitpid($pid, 0); print $? & 127;
`
