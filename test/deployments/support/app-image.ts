import { type LayoutEntry, writeLayout } from "#src/images/layout.ts"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { temporaryDirectory } from "../../support/Settings.ts"

/** What the app inside a test image does; told by a variable of the image's own configuration. */
export type Behaviour = "healthy" | "silent" | "failing" | "text" | "crash" | "deaf" | "slow" | "stubborn" | "brief"

/** An HTTP server in perl without a module: perl is part of every Debian, and the image is 2 MB. */
const app = String.raw`
$| = 1; $SIG{TERM} = sub { exit 0 }; $SIG{PIPE} = "IGNORE"; select(STDERR); $| = 1; select(STDOUT);
my $does = $ENV{BEHAVIOUR}; $SIG{TERM} = "IGNORE" if $does eq "stubborn";
print "starting as $does\n"; print STDERR "a notice\n";
if ($does eq "crash") { print STDERR "Fatal error: no configuration\n"; exit 3 }
if ($does eq "silent") { sleep 1 while 1 }
sleep 2 if $does eq "slow";
socket(S, 2, 1, 6) or die; setsockopt(S, 1, 2, pack("l", 1));
bind(S, pack("S n a4 x8", 2, $ENV{PORT}, "\0\0\0\0")) or die "bind: $!"; listen(S, 64);
print "listening on $ENV{PORT}\n";
while (1) {
  my $peer = accept(C, S) or next;
  if ($does eq "deaf") { push @kept, *C{IO}; local *C; next }
  my $head = ""; while (sysread(C, my $part, 4096)) { $head .= $part; last if $head =~ /\r\n\r\n/ }
  my ($path) = $head =~ m{^\w+ (\S+)}; my ($status, $body) = ("200 OK", "{\"ok\":true}");
  if ($path =~ m{^/env}) { $body = "{" . join(",", map { my $v = $ENV{$_}; $v =~ s/(["\\])/\\$1/g; "\"$_\":\"$v\"" } sort keys %ENV) . "}" }
  elsif ($path =~ m{^/exit/(\d+)}) { print STDERR "leaving\n"; exit $1 }
  elsif ($path =~ m{^/say/(\d+)}) { print "line $_ of $1\n" for 1..$1 }
  elsif ($path =~ m{^/tell/(\w+)/(\d+)}) { print "x" x $2, "$ENV{$1} told\n" }
  elsif ($path =~ m{^/hang}) { push @kept, *C{IO}; local *C; next }
  elsif ($does eq "failing") { ($status, $body) = ("500 Broken", "{}") }
  elsif ($does eq "text") { $body = "fine" }
  syswrite(C, "HTTP/1.1 $status\r\ncontent-type: application/json\r\ncontent-length: " . length($body) . "\r\nconnection: close\r\n\r\n$body");
  if ($does eq "brief") { select(undef, undef, undef, 0.05); print STDERR "Fatal error: that was all\n"; exit 4 }
  close(C);
}
`

const perl = ["/usr/bin/perl", "/bin/perl"].find((path) => existsSync(path))

export const missingForApps = process.platform !== "linux"
  ? "machines need Linux"
  : perl === undefined
  ? "perl is not installed"
  : undefined

const files = (program: string): ReadonlyArray<LayoutEntry> => {
  if (perl === undefined) throw new Error("perl is not installed")
  const libraries = [...execFileSync("ldd", [perl], { encoding: "utf8" }).matchAll(/(\/\S+) \(0x/g)].map(([, path]) =>
    path!
  )
  const copy = (path: string): LayoutEntry => ({
    type: "copy",
    path: path.slice(1),
    from: realpathSync(path),
    mode: 0o755
  })
  return [copy("/usr/bin/perl"), ...libraries.map(copy), { type: "file", path: "app.pl", content: program }]
}

/** The same files in a folder, as a Dockerfile may copy them; the program answers every request with 200 and JSON. */
export const perlFolder = (folder: string) => {
  for (const entry of files(app)) {
    if (entry.type !== "copy" && entry.type !== "file") continue
    const path = join(folder, entry.path)
    mkdirSync(dirname(path), { recursive: true })
    if (entry.type === "file") writeFileSync(path, entry.content)
    else copyFileSync(entry.from, path)
  }
}

interface ImageOptions {
  readonly architecture?: string
  readonly env?: ReadonlyArray<string>
  /** What is run instead of perl. */
  readonly program?: string
  /** What a file of a layer of its own holds. */
  readonly extra?: string
}

/** An image that runs a program for perl, in a layout of its own; the answer is its `oci:` address. */
export const perlImage = (
  source: string,
  { architecture, env = [], extra, program = "/usr/bin/perl" }: ImageOptions = {}
) =>
  Effect.gen(function*() {
    const directory = join(temporaryDirectory("image"), "layout")
    yield* writeLayout(directory, {
      layers: [
        files(source),
        ...(extra === undefined ? [] : [[{ type: "file", path: "extra", content: extra } as const]])
      ],
      config: { entrypoint: [program], cmd: ["/app.pl"], env, workingDir: "/", user: "" },
      ...(architecture === undefined ? {} : { architecture })
    })
    return `oci:${directory}`
  }).pipe(Effect.orDie)

/** An image of the app, which behaves so. */
export const appImage = (
  behaviour: Behaviour,
  { note = "", ...options }: Omit<ImageOptions, "env"> & { readonly note?: string } = {}
) => perlImage(app, { ...options, env: [`BEHAVIOUR=${behaviour}`, `NOTE=${note}`] })
