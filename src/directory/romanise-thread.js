// @ts-check
import anyAscii from "any-ascii"
import { TokenizerBuilder } from "lindera-wasm-nodejs-ipadic"
import { parentPort } from "node:worker_threads"
import { toRomaji } from "wanakana"

/**
 * A thread that writes names in Latin letters: a list of names, a list of texts. The dictionary takes 100 MB while it
 * runs. It is JavaScript because Node loads a worker's file directly.
 */

const builder = new TokenizerBuilder()
builder.setDictionary("embedded://ipadic")
const japanese = builder.build()

/** How people write long vowels: `gyouza`, `gyoza`. */
const short = (/** @type {string} */ word) => word.replaceAll(/([aeiou])\1+/g, "$1").replaceAll("ou", "o")

/** The readings of words that a dictionary of Japanese knows, and all of them as one. `家` ends names of shops as `ya`. */
const ofJapanese = (/** @type {string} */ name) => {
  /** @type {ReadonlyArray<{ readonly surface: string, readonly reading?: string }>} */
  const tokens = japanese.tokenize(name)
  const words = tokens.map(({ reading = "*", surface }, i) => {
    const kana = surface === "家" && i > 0 ? "ヤ" : reading === "*" ? surface : reading
    return toRomaji(kana).toLowerCase()
  })
  const joined = words.join("")
  return [joined, short(joined), ...words.filter(({ length }) => length > 3).flatMap((word) => [word, short(word)])]
}

const han = /\p{sc=Han}/u
const kana = /[\p{sc=Hiragana}\p{sc=Katakana}]/u

/** Han alone may be Chinese or Japanese: both. */
const romanised = (/** @type {string} */ name) => {
  const words = name.split(/\s+/).filter((word) => /[^\p{sc=Latin}\P{L}]/u.test(word))
  const all = words.flatMap((word) => [
    ...(han.test(word) || kana.test(word) ? ofJapanese(word) : []),
    ...(kana.test(word) ? [] : [anyAscii(word).toLowerCase()])
  ])
  return [...new Set(all.map((word) => word.replaceAll(/[^a-z0-9]/g, "")))].filter((word) => word !== "").join(" ")
}

parentPort?.on("message", (/** @type {ReadonlyArray<string>} */ names) => {
  try {
    parentPort?.postMessage({ ok: names.map(romanised) })
  } catch (error) {
    parentPort?.postMessage({ error: String(error) })
  }
})
