import { Effect } from "effect"
import { imageFromLayout, type startFakeRegistry } from "../../support/registry.ts"
import { perlImage } from "./app-image.ts"

/**
 * An MCP server with sessions, which it knows as its own by how they begin: a process of its own for each connection,
 * so that nothing waits for anything. Tools: `version` tells NOTE, `slow` takes `seconds`.
 */
const app = String.raw`
$| = 1; $SIG{TERM} = sub { exit 0 }; $SIG{PIPE} = "IGNORE"; $SIG{CHLD} = "IGNORE";
select(undef, undef, undef, $ENV{PAUSE});
my $own = "$ENV{NOTE}-" . int(rand(1e9)); my $c;
socket(S, 2, 1, 6) or die; setsockopt(S, 1, 2, pack("l", 1));
bind(S, pack("S n a4 x8", 2, $ENV{PORT}, "\0\0\0\0")) or die "bind: $!"; listen(S, 256);
sub answer { my ($status, $body, $more) = @_;
  syswrite($c, "HTTP/1.1 $status\r\ncontent-type: application/json\r\n" . ($more || "") . "content-length: " . length($body) . "\r\n\r\n$body") }
sub rpc { my ($body) = @_; my ($id) = $body =~ /"id":(\d+)/; return "" unless defined $id;
  select(undef, undef, undef, $1) if $body =~ /"seconds":([\d.]+)/;
  my $result = $body =~ /"method":"initialize"/ ? '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}'
    : $body =~ /"method":"tools.list"/ ? '{"tools":[{"name":"version","inputSchema":{"type":"object"}},{"name":"slow","inputSchema":{"type":"object"}}]}'
    : '{"content":[{"type":"text","text":"' . $ENV{NOTE} . '"}]}';
  return '{"jsonrpc":"2.0","id":' . $id . ',"result":' . $result . '}' }
sub stream { my ($first, $file) = @_; my ($sent, $beat) = (0, 0);
  syswrite($c, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n$first") or exit;
  while (1) { select(undef, undef, undef, 0.05);
    if (open(my $in, "<", $file)) { seek($in, $sent, 0); local $/; my $new = <$in>; $sent += length($new); syswrite($c, $new) or exit if length($new) }
    if (++$beat % 10 == 0) { syswrite($c, ": of $ENV{NOTE}\n\n") or exit } } }
sub serve {
  my $rest = "";
  while (1) {
    while ($rest !~ /\r\n\r\n/) { sysread($c, my $part, 4096) or exit; $rest .= $part }
    my ($head, $body) = split(/\r\n\r\n/, $rest, 2);
    my ($length) = $head =~ /content-length: (\d+)/i; $length ||= 0;
    while (length($body) < $length) { sysread($c, my $part, 4096) or exit; $body .= $part }
    $rest = substr($body, $length); $body = substr($body, 0, $length);
    my ($method, $path, $query) = $head =~ m{^(\w+) ([^\s?]+)\??(\S*)};
    my ($session) = $head =~ /mcp-session-id: (\S+)/i;
    my $known = defined $session && index($session, "$own.") == 0;
    if ($path eq "/healthz") { answer("200 OK", '{"ok":true,"version":"' . $ENV{NOTE} . '"}') }
    elsif ($path eq "/sse") { my $id = "$own." . int(rand(1e9)); stream("event: endpoint\ndata: /message?sessionId=$id\n\n", "/tmp/$id") }
    elsif ($path eq "/message") { my ($id) = $query =~ /sessionId=([\w.-]+)/;
      if ($query =~ /berth/ || index($id, "$own.") != 0) { answer("404 Not Found", '{"error":"no such session"}'); next }
      my $out = rpc($body); open(my $to, ">>", "/tmp/$id"); syswrite($to, "event: message\ndata: $out\n\n") if $out ne ""; answer("202 Accepted", "") }
    elsif ($path ne "/mcp") { answer("404 Not Found", '{"error":"none"}') }
    elsif ($session =~ /~/) { answer("400 Bad Request", '{"error":"a tag has come through"}') }
    elsif ($body =~ /"method":"initialize"/) { answer("200 OK", rpc($body), "mcp-session-id: $own." . int(rand(1e9)) . "\r\n") }
    elsif (defined $session && !$known) { answer("404 Not Found", '{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}') }
    elsif ($method eq "DELETE") { answer("200 OK", "{}") }
    elsif ($method eq "GET") { stream(": of $ENV{NOTE}\n\n", "/nothing") }
    else { my $out = rpc($body); $out eq "" ? answer("202 Accepted", "") : answer("200 OK", $out) }
  }
}
$SIG{TERM} = "IGNORE" if $ENV{STUBBORN};
while (1) { undef $c; accept($c, S) or next; my $pid = fork; if (defined $pid && $pid == 0) { close(S); $SIG{TERM} = "DEFAULT"; serve(); exit } close($c) }
`

/** An image of a version of it, which listens after so many seconds, and ignores SIGTERM where it is stubborn; `oci:` and its path. */
export const sessionImage = (note: string, { pause = 0, extra = "", stubborn = false } = {}) =>
  perlImage(app, {
    env: [`NOTE=${note}`, `PAUSE=${pause}`, `STUBBORN=${stubborn ? 1 : 0}`],
    ...(extra === "" ? {} : { extra })
  })

/** The same in a registry; its address. */
export const sessionImageIn = (
  registry: Awaited<ReturnType<typeof startFakeRegistry>>,
  note: string,
  options?: Parameters<typeof sessionImage>[1]
) =>
  Effect.map(
    sessionImage(note, options),
    (uri) => registry.add("acme/menu", imageFromLayout(uri.slice("oci:".length)), `v${note.length}`)
  )
