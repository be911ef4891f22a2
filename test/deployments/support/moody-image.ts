import { perlImage } from "./app-image.ts"

/** How a test server answers its health path; `GET /be/MOOD` changes it. */
export type Mood = "good" | "broken" | "text" | "mute" | "huge" | "endless" | "drip" | "elsewhere" | "garbage"

/** Like the app of `app-image.ts`. Counts the requests for its health path at /count. Never blocks for long. */
const app = String.raw`
$| = 1; $SIG{TERM} = sub { exit 0 }; $SIG{PIPE} = "IGNORE"; $SIG{CHLD} = "IGNORE";
my ($mood, $count, @kept, $c) = ("good", 0);
socket(S, 2, 1, 6) or die; setsockopt(S, 1, 2, pack("l", 1));
bind(S, pack("S n a4 x8", 2, $ENV{PORT}, "\0\0\0\0")) or die "bind: $!"; listen(S, 64);
sub answer { my ($status, $body, $more) = @_;
  syswrite($c, "HTTP/1.1 $status\r\ncontent-type: application/json\r\n" . ($more || "") . "content-length: " . length($body) . "\r\nconnection: close\r\n\r\n$body") }
while (1) {
  undef $c; accept($c, S) or next;
  my $head = ""; while (sysread($c, my $part, 4096)) { $head .= $part; last if $head =~ /\r\n\r\n/ }
  my ($path) = $head =~ m{^\w+ (\S+)};
  if ($path =~ m{^/be/(\w+)}) { $mood = $1; answer("200 OK", "{}") }
  elsif ($path eq "/count") { answer("200 OK", $count) }
  elsif ($path eq "/leave") { exit 3 }
  elsif ($path ne "/healthz") { answer("404 Not Found", "{}") }
  else {
    $count++;
    if ($mood eq "mute") { push @kept, $c; next }
    if ($mood =~ /huge|endless|drip/) {
      next if fork;
      syswrite($c, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n\"");
      if ($mood eq "drip") { while (syswrite($c, "a")) { select(undef, undef, undef, 0.2) } }
      my $part = "a" x 65536; my $left = $mood eq "huge" ? 320 : -1;
      while ($left-- && syswrite($c, $part)) {}
      syswrite($c, "\""); exit 0;
    }
    if ($mood eq "broken") { answer("500 Broken", "{}") }
    elsif ($mood eq "text") { answer("200 OK", "fine") }
    elsif ($mood eq "elsewhere") { answer("302 Found", "{}", "location: http://localhost:$ENV{PORT}/be/good\r\n") }
    elsif ($mood eq "garbage") { syswrite($c, "\x00\xffHTTP/9.9 \x1b[2J nothing\r\n\r\n") }
    else { answer("200 OK", '{"ok":true}') }
  }
  close($c);
}
`

/** An image of that server; `note` makes it another one. */
export const moodyImage = (note = "") => perlImage(app, { env: [`NOTE=${note}`] })
