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
const mostCandidates = 12
const usual: ReadonlyArray<Encoding> = ["macintosh", "windows-1252"]
/** Of those that fit alike: the likelier the later. */
const likelier: ReadonlyArray<Encoding> = ["windows-1251", ...usual]
const lineFeed = 0x0a
/** Bytes that end a cell, and are no part of a character in any of the encodings. */
const ends = new Set([...Buffer.from("\t\n\r\",;")])

/** The cells that are not ASCII: English around them would outvote a few words in another language. */
const foreignCells = (bytes: Buffer) => {
  const cells: Array<Buffer> = []
  let size = 0
  let start = 0
  let isForeign = false
  for (let at = 0; at < bytes.length && size < sampleBytes; at++) {
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
const notLatin = /(?!\p{Script=Latin})\p{L}/gu
const capital = /(?!\p{Script=Latin})\p{Lu}/gu
const notAscii = /[^\u0000-\u007f]/gu
/**
 * What stands where people write it: small letters that are neither beside a digit nor before a capital, capitals that
 * begin a word, dashes, and marks at the edges of words.
 */
const plausible = new RegExp(
  [
    ...["\\p{Lo}", "(?<!\\p{N})(?![a-z])\\p{Ll}(?![\\p{N}\\p{Lu}])", "(?<!\\p{L})(?![A-Z])\\p{Lu}", "[–—]"],
    ...["(?<!\\p{L})[“„‘«•½¼¾°]", "[”’»…€£™®°](?!\\p{L})", "(?<=\\p{L})’(?=\\p{L})"]
  ].join("|"),
  "gu"
)

/** Encodings of one byte a letter for scripts other than Latin: a text in one has words of the script. */
const otherScripts = new Set<Encoding>(
  ["windows-1251", "windows-1253", "windows-1255", "windows-1256", "windows-874", "koi8-r", "x-mac-cyrillic"]
)
const wordOfOtherScript = /(?:(?!\p{Script=Latin})\p{L}\p{M}*){3}/u

/** `Ýskender`, `Yoðurtlu`: Turkish, unless it has other letters of Icelandic too. */
const isTurkish = (text: string) =>
  /[ÝþÞðÐ]/.test(text) && !/[áíóúæÁÍÓÚÆ]|(?<=[\p{Ll}\p{N}])[ÝÞÐ]|[ÝþÞðÐ](?=\p{N})/u.test(text)

/** Words in capitals: their letters after the first are as plausible as small ones. */
const capitals = /(?<!\p{L})\p{Lu}{2,}(?!\p{L})/gu
const inCapitals = (text: string) =>
  (text.match(capitals) ?? []).reduce((sum, word) => sum + count(word.slice(1), /(?![A-Z])\p{Lu}/gu), 0)

/** The encodings of Cyrillic trade small letters for capitals; which letters a text has most tells them apart. */
const cyrillic = /\p{Script=Cyrillic}/gu
const frequent = /[оаеинтсрвлкі]/giu
const frequency = (text: string) => {
  const letters = count(text, cyrillic)
  return letters === 0 ? 1 : Math.min(1, count(text, frequent) / letters / 0.6)
}

/** `Joe’s` says more than any letter. */
const english = /(?<=[a-z])’(?=(?:s|t|re|ll|ve|d|m)\b)/giu

/** The detector learned its languages from small letters, and takes the capitals of these scripts for others. */
const cased = ["windows-1251", "koi8-r", "windows-1253"] as const

/** The byte of each byte's small letter. */
const smallBytes = (encoding: Encoding) => {
  // In a stream: Node 20 takes a whole text in windows-1252 for ISO-8859-1.
  const decoder = new TextDecoder(encoding)
  const letters = Array.from({ length: 256 }, (_, byte) => decoder.decode(Uint8Array.of(byte), { stream: true }))
  return letters.map((letter, byte) => Math.max(letters.indexOf(letter.toLowerCase()), 0) || byte)
}

/** The sample in small letters, when it is in capitals if it is in this encoding. */
const inSmallLetters = (sample: Buffer, encoding: Encoding) => {
  const text = new TextDecoder(encoding).decode(sample, { stream: true })
  if (2 * count(text, capital) < count(text, notLatin)) return undefined
  const bytes = smallBytes(encoding)
  return Buffer.from(sample.map((byte) => bytes[byte] ?? byte))
}

const detected = (sample: Buffer) =>
  detectAll(sample, { minimumThreshold: 0 }).flatMap(({ confidence, encoding }) => {
    const name = names.get(encoding?.toLowerCase() ?? "")
    return name === undefined ? [] : [{ confidence, name }]
  })

const plausibility = (sample: Buffer, encoding: Encoding) => {
  const text = new TextDecoder(encoding).decode(sample, { stream: true })
  const isMixed = 3 * count(text, mixed) > count(text, notLatin) ||
    otherScripts.has(encoding) && !wordOfOtherScript.test(text)
  const characters = count(text, notAscii)
  // Of few characters the detector can't tell the language: the usual encodings come first.
  const prior = characters < 20 && usual.includes(encoding) ? 2 : 1
  const usualLetters = count(text, plausible) + inCapitals(text) + count(text, english)
  return isMixed ? 0 : prior * frequency(text) * (0.25 + usualLetters / Math.max(1, characters))
}

/** Guesses the encoding of a file that is not Unicode. */
export const detectEncoding = (bytes: Buffer): Encoding => {
  const sample = foreignCells(bytes)
  const candidates = detected(sample)
  for (const name of cased) {
    const small = inSmallLetters(sample, name)
    if (small === undefined) continue
    candidates.unshift(...detected(small).filter((candidate) => candidate.name === name))
  }
  if (isTurkish(new TextDecoder("windows-1252").decode(sample, { stream: true }))) {
    candidates.unshift({ confidence: 1, name: "windows-1254" })
  }
  const [guess] = candidates.slice(0, mostCandidates)
    .map(({ confidence, name }) => ({ name, score: confidence * plausibility(sample, name) }))
    .toSorted((a, b) => b.score - a.score || likelier.indexOf(b.name) - likelier.indexOf(a.name))
  return guess?.name ?? "windows-1252"
}
