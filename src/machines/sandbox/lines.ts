import type { MachineLine } from "#src/machines/Machines.ts"

/**
 * A line as it may be stored and shown: valid Unicode, terminal colours taken out, every other control character
 * but the tab made visible (PostgreSQL takes no NUL, and a terminal obeys escapes).
 */
export const cleanLine = (bytes: Uint8Array): string =>
  Buffer.from(bytes).toString("utf8")
    .replace(/\r$/, "")
    .replace(/\x1b\[[0-?]*[ -/]*[@-~]/g, "")
    .replace(/[\0-\x08\x0a-\x1f\x7f-\x9f]/g, "\ufffd")

/** Bytes that a line has at least when the keeper has cut it: 16 KiB, but not within a character. */
const longest = 16 * 1024 - 3

/** The complete lines in `bytes`, which begin at `offset` of the output; what follows the last newline is left. */
export const parseLines = (bytes: Uint8Array, offset: number): ReadonlyArray<MachineLine> => {
  const lines: Array<MachineLine> = []
  let at = 0
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, at)) {
    const stream = bytes[at] === 0x32 ? "stderr" : "stdout"
    const text = cleanLine(bytes.subarray(at + 1, end))
    lines.push({ offset: offset + end + 1, stream, text, ...(end - at > longest ? { isCut: true } : {}) })
    at = end + 1
  }
  return lines
}
