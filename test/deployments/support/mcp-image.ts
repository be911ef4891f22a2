import { perlImage } from "./app-image.ts"

/**
 * What a test server does with MCP. `guarded` serves whoever comes as the gateway does, and nobody else, `token` nobody
 * without a token that it likes, `hosts` only who calls it by a public name.
 */
export type McpBehaviour =
  | "streamable"
  | "sse"
  | "guarded"
  | "token"
  | "hosts"
  | "none"
  | "garbage"
  | "mute"
  | "drip"
  | "flood"
  | "endless"

/**
 * Like the app of `app-image.ts`. Answers tools/list with TOOLS, which is JSON, and its health path with 404 when HEALTH
 * is that. It listens on LISTEN in place of PORT, knows no path in its first LATE seconds, and says on its output what
 * requests for MCP look like when SHOW is set. It begins SLOW seconds late, and looks up ASKS before it answers MCP.
 */
const app = String.raw`
$| = 1; $SIG{TERM} = sub { exit 0 }; $SIG{PIPE} = "IGNORE";
my ($does, $tools) = ($ENV{BEHAVIOUR}, $ENV{TOOLS}); my ($stream, @kept, $page, $c); my $begun = time;
sleep $ENV{SLOW} if $ENV{SLOW};
socket(S, 2, 1, 6) or die; setsockopt(S, 1, 2, pack("l", 1));
bind(S, pack("S n a4 x8", 2, $ENV{LISTEN} || $ENV{PORT}, "\0\0\0\0")) or die "bind: $!"; listen(S, 64);
sub answer { my ($status, $body, $type) = @_;
  syswrite($c, "HTTP/1.1 $status\r\ncontent-type: " . ($type || "application/json") . "\r\ncontent-length: " . length($body) . "\r\nconnection: close\r\n\r\n$body") }
sub rpc { my ($body) = @_; my ($id) = $body =~ /"id":(\d+)/; return "" unless defined $id;
  my $result = $body =~ /"initialize"/ ? '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}'
    : $does eq "endless" ? '{"tools":[{"name":"t' . ++$page . '"}],"nextCursor":"' . $page . '"}' : '{"tools":' . $tools . '}';
  return '{"jsonrpc":"2.0","id":' . $id . ',"result":' . $result . '}' }
while (1) {
  undef $c; accept($c, S) or next;
  my ($head, $body) = ("", "");
  while (sysread($c, my $part, 4096)) { $head .= $part; last if $head =~ /\r\n\r\n/ }
  ($head, $body) = split(/\r\n\r\n/, $head, 2);
  my ($length) = $head =~ /content-length: (\d+)/i; my ($path) = $head =~ m{^\w+ ([^\s?]+)};
  while (length($body) < ($length || 0) && sysread($c, my $part, 4096)) { $body .= $part }
  if ($ENV{SHOW} && $path ne "/healthz") { print "$path " . join("|", sort map { lc } split(/\r\n/, $head)) . "\n" }
  if ($path eq "/healthz" && !$ENV{HEALTH}) { answer("200 OK", '{"ok":true}') }
  elsif ($path eq "/healthz" || time - $begun < ($ENV{LATE} || 0)) { answer("404 Not Found", '{"error":"none"}') }
  elsif ($path eq "/env") { answer("200 OK", "{" . join(",", map { my $v = $ENV{$_}; $v =~ s/(["\\])/\\$1/g; "\"$_\":\"$v\"" } sort keys %ENV) . "}") }
  elsif ($ENV{ASKS} && !gethostbyname($ENV{ASKS})) { answer("500 Internal Server Error", '{"error":"no database"}') }
  elsif ($does eq "token") { answer("401 Unauthorized", '{"error":"invalid_token"}') }
  elsif ($does eq "hosts") { answer("403 Forbidden", '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Invalid Host: localhost"},"id":null}') }
  elsif ($does eq "mute") { push @kept, $c; next }
  elsif ($does eq "garbage") { syswrite($c, "\x00\xffHTTP/9.9 \x1b[2J nothing\r\n\r\n" . join("", map { chr(int rand 256) } 1 .. 5000)) }
  elsif ($does eq "drip") { syswrite($c, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{"); while (syswrite($c, " ")) { select(undef, undef, undef, 0.05) } }
  elsif ($does eq "flood") { syswrite($c, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"); my $part = "data: {}\n\n" x 5000; 1 while syswrite($c, $part) }
  elsif ($does eq "guarded" && !($head =~ /^x-berth-gateway-token: \Q$ENV{PLATFORM_MCP_REPLAY_TOKEN}\E\r?$/mi && $head =~ /^host: localhost:$ENV{PORT}\r?$/mi && $head =~ /^authorization: Bearer [\w-]+\.[\w-]+\.[\w-]+\r?$/mi)) { answer("403 Forbidden", '{"error":"gateway only"}') }
  elsif ($does eq "sse" && $path eq "/sse") { syswrite($c, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nevent: endpoint\ndata: /message?sessionId=1\n\n"); $stream = $c; next }
  elsif ($does eq "sse" && $path eq "/message") { my $out = rpc($body); syswrite($stream, "event: message\ndata: $out\n\n") if $out ne ""; answer("202 Accepted", "Accepted", "text/plain") }
  elsif ($does =~ /streamable|guarded|endless/ && $path eq "/mcp") { my $out = rpc($body); $out eq "" ? answer("202 Accepted", "") : answer("200 OK", $out) }
  else { answer("404 Not Found", '{"error":"none"}') }
  close($c);
}
`

const withSchema = (tool: unknown) =>
  typeof tool === "object" && tool !== null ? { inputSchema: { type: "object" }, ...tool } : tool

/** An image of a server with the tools; `oci:` and its path. */
export const mcpImage = (
  behaviour: McpBehaviour,
  tools: ReadonlyArray<unknown> = [],
  env: ReadonlyArray<string> = []
) => perlImage(app, { env: [`BEHAVIOUR=${behaviour}`, `TOOLS=${JSON.stringify(tools.map(withSchema))}`, ...env] })
