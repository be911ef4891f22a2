import { Effect } from "effect"
import { perlImage } from "../deployments/support/app-image.ts"
import { type Account, dataOf, type Server } from "../support/account.ts"
import { type Berth } from "../support/Berth.ts"

/**
 * A hosted server that sends what it is told to a port of its own loopback. `POST /send?port&count` opens as many
 * connections, sends the body on each, keeps all open until each was answered or closed, and answers with what came, one
 * part a connection. `GET /env` tells its variables. One request at a time is enough.
 */
const program = String.raw`
$| = 1; $SIG{PIPE} = "IGNORE";
sub endpoint { pack("S n a4 x8", 2, $_[0], $_[1]) }
sub answers {
  my ($port, $count, $bytes) = @_; my @all; my @got = ("") x $count;
  for my $i (0..$count - 1) {
    socket(my $s, 2, 1, 6) or die; connect($s, endpoint($port, "\x7f\0\0\1")) or next; syswrite($s, $bytes); $all[$i] = $s;
  }
  my $until = time + 5;
  while (time < $until) {
    my $bits = ""; for my $i (0..$#all) { vec($bits, fileno($all[$i]), 1) = 1 if $all[$i] && !whole($got[$i]) }
    last if $bits !~ /[^\0]/;
    select($bits, undef, undef, 1) > 0 or next;
    for my $i (0..$#all) {
      next unless $all[$i] && vec($bits, fileno($all[$i]), 1);
      sysread($all[$i], $got[$i], 65536, length($got[$i])) or delete $all[$i];
    }
  }
  return @got;
}
# As many answers as were asked for, each with a length.
sub whole { my ($rest) = @_; my $seen = 0;
  while ($rest =~ s/^HTTP\/1\.1 (\d+)[^\r\n]*\r\n(.*?)\r\n\r\n//s) {
    my ($length) = $2 =~ /content-length: *(\d+)/i; return 0 if length($rest) < ($length // 0);
    substr($rest, 0, $length // 0) = ""; $seen++;
  } return $seen >= $wanted }
socket(L, 2, 1, 6) or die; setsockopt(L, 1, 2, pack("l", 1));
bind(L, endpoint($ENV{PORT}, "\0\0\0\0")) or die; listen(L, 64);
while (1) {
  accept(C, L) or next;
  my ($in, $length) = ("", 0);
  while ($in !~ /\r\n\r\n/ || length($in) - index($in, "\r\n\r\n") - 4 < $length) {
    sysread(C, my $part, 65536) or last; $in .= $part; ($length) = $in =~ /content-length: *(\d+)/i; $length //= 0;
  }
  my ($path) = $in =~ m{^\w+ (\S+)}; my $out = "{\"ok\":true}";
  if ($path =~ m{^/env}) { $out = join("\n", map { "$_=$ENV{$_}" } keys %ENV) }
  elsif ($path =~ m{^/send\?port=(\d+)&count=(\d+)&answers=(\d+)}) {
    my ($port, $count) = ($1, $2); $wanted = $3;
    $out = join("\0", answers($port, $count, substr($in, index($in, "\r\n\r\n") + 4)));
  }
  syswrite(C, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: " . length($out) . "\r\nconnection: close\r\n\r\n$out");
  close(C);
}
`

export interface Heard {
  readonly status: number
  readonly headers: string
  readonly body: string
}

const parse = (answer: string): Heard => {
  const [head = "", ...rest] = answer.split("\r\n\r\n")
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), headers: head, body: rest.join("\r\n\r\n") }
}

export interface Question {
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** A request as it goes out, to the letter. */
export const written = (method: string, path: string, { body, headers }: Question = {}) =>
  [
    `${method} ${path} HTTP/1.1`,
    ...Object.entries({
      host: "localhost",
      ...(body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) }),
      ...headers
    }).map(([name, value]) => `${name}: ${value}`),
    "",
    body ?? ""
  ].join("\r\n")

/** A hosted server of that account, deployed and running, that asks from inside its machine. */
export const deployAsker = async (berth: Berth, account: Account) => {
  const project = await account.project()
  const server = await account.server(project.id)
  const imageUri = await Effect.runPromise(perlImage(program))
  const { body } = await account.post<{ data: { status: string; errorMessage?: string } }>(
    `/v1/servers/${server.id}/deploy`,
    { imageUri }
  )
  if (body.data?.status !== "running") throw new Error(JSON.stringify(body))
  const { accessToken } = dataOf(
    await account.post<{ data: { accessToken: string } }>(`/v1/servers/${server.id}/test-token`, {})
  )
  return askerOf(berth, server, accessToken)
}

const askerOf = async (berth: Berth, server: Server, token: string) => {
  const outside = async (method: string, path: string, body?: string) => {
    const headers = { "content-type": "application/octet-stream" }
    const answer = await berth.request(method, `/s/${server.slug}${path}`, { token, body, headers })
    if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`)
    return answer.text
  }
  const variables = new Map(
    (await outside("GET", "/env")).split("\n").map((line) => line.split(/=(.*)/s) as [string, string])
  )
  const { port } = new URL(variables.get("OAUTH_BASE_URL") ?? "")

  /** What comes back over each of so many connections, on which the same bytes are sent at once. */
  const sendRaw = async (bytes: string, { answers = 1, count = 1 } = {}) =>
    (await outside("POST", `/send?port=${port}&count=${count}&answers=${answers}`, bytes)).split("\0")
  const ask = async (method: string, path: string, question: Question = {}) =>
    parse((await sendRaw(written(method, path, question)))[0] ?? "")
  return { ask, sendRaw, server, token, replayToken: variables.get("PLATFORM_MCP_REPLAY_TOKEN") ?? "" }
}

export type Asker = Awaited<ReturnType<typeof deployAsker>>
