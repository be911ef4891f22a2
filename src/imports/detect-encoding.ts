import { detectAll } from "jschardet"
import { type Encoding } from "./Import.ts"

/** WHATWG Encoding's names by those of the detector, in lower case. */
const names: ReadonlyMap<string, Encoding> = new Map([
  ...["windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254"] as const,
  ...["windows-1255", "windows-1256", "windows-1257"] as const,
  ...["iso-8859-2", "koi8-r", "gb18030", "big5", "euc-jp", "euc-kr", "shift_jis"] as const
].map((name): [string, Encoding] => [name, name])).set("iso-8859-1", "windows-1252").set("macroman", "macintosh")
  .set("maccyrillic", "x-mac-cyrillic").set("cp932", "shift_jis").set("cp949", "euc-kr").set("cp874", "windows-874")

const sampleBytes = 16 * 1024
const pieceBytes = 64 * 1024
/** The difference in confidence that says nothing. */
const tie = 1e-4
const mostCandidates = 10
const usual = "windows-1252"
const lineFeed = 0x0a
/** Bytes that end a cell, and are no part of a character in any of the encodings. */
const ends = new Set([...Buffer.from("\t\n\r\",;")])

/** The cells that are not ASCII: English around them would outvote a few words in another language. */
function* foreignCells(bytes: Buffer): Generator<void, Buffer> {
  const cells: Array<Buffer> = []
  let size = 0
  let start = 0
  let isForeign = false
  for (let at = 0; at < bytes.length && size < sampleBytes; at++) {
    if (at % pieceBytes === 0) yield
    const byte = bytes[at]!
    if (byte >= 0x80) isForeign = true
    if (!ends.has(byte) && at - start < 1000 && at + 1 < bytes.length) continue
    if (isForeign) cells.push(bytes.subarray(start, at + 1), Buffer.of(lineFeed))
    if (isForeign) size += at + 1 - start
    start = at + 1
    isForeign = false
  }
  return Buffer.concat(cells)
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0

/** Letters beside Latin ones that no word mixes with them, as in `Crиme`. */
const mixed = /[a-z](?!\p{Script=Latin})\p{L}|(?!\p{Script=Latin})\p{L}(?=[a-z])/giu
const foreign = /(?!\p{Script=Latin})\p{L}/gu
/** Letters that words have inside: of two encodings that fit alike, one often shows dashes or capitals there. */
const small = /(?![a-z])\p{Ll}/gu

const readAs = (sample: Buffer, encoding: Encoding) => {
  const text = new TextDecoder(encoding).decode(sample, { stream: true })
  return { isMixed: 3 * count(text, mixed) > count(text, foreign), letters: count(text, small) }
}

/** Guesses the encoding of a file that is not Unicode. */
export function* detectEncoding(bytes: Buffer): Generator<void, Encoding> {
  const sample = yield* foreignCells(bytes)
  const candidates = detectAll(sample, { minimumThreshold: 0 }).flatMap(({ confidence, encoding }) => {
    const name = names.get(encoding?.toLowerCase() ?? "")
    return name === undefined ? [] : [{ confidence, name }]
  }).slice(0, mostCandidates).map((candidate) => ({ ...candidate, ...readAs(sample, candidate.name) }))
    .filter(({ isMixed }) => !isMixed)
  yield
  const best = Math.max(...candidates.map(({ confidence }) => confidence))
  const [guess] = candidates.filter(({ confidence }) => confidence >= best - tie)
    .toSorted((a, b) => b.letters - a.letters || Number(b.name === usual) - Number(a.name === usual))
  return guess?.name ?? usual
}
