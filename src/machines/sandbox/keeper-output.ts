import type * as Fs from "node:fs"

/**
 * The keeper's store for its machine's output: files named by the offset of their first byte, each line led by 1
 * (stdout) or 2 (stderr). A full disk costs output, never the machine: a line is kept whole or counted as lost, and
 * a line of its own says how many were once it fits.
 *
 * It runs as part of the keeper, from this function's text: it may use nothing from outside its own body.
 */
export function keeperOutput(fs: typeof Fs, dir: string) {
  const SEGMENT = 1024 * 1024
  const SEGMENTS = 4

  const segments = fs.readdirSync(dir).filter((name) => name.startsWith("out.")).sort()
  const last = segments.at(-1)
  let offset = last === undefined ? 0 : Number(last.slice(4)) + fs.statSync(`${dir}/${last}`).size
  let size = SEGMENT
  let file = -1
  let lost = 0
  const count = (lines: Buffer) => {
    for (let at = lines.indexOf(10); at !== -1; at = lines.indexOf(10, at + 1)) lost++
  }
  const store = (lines: Buffer): void => {
    const note = lost === 0 ? "" : `2[Lines of output lost because the platform's disk was full: ${lost}]\n`
    const bytes = note === "" ? lines : Buffer.concat([Buffer.from(note), lines])
    let kept = 0
    try {
      if (size >= SEGMENT) {
        const name = `out.${String(offset).padStart(15, "0")}`
        const next = fs.openSync(`${dir}/${name}`, "a", 0o600)
        if (file !== -1) fs.closeSync(file)
        file = next
        segments.push(name)
        for (const old of segments.splice(0, segments.length - SEGMENTS)) {
          if (old !== name) fs.rmSync(`${dir}/${old}`, { force: true })
        }
        size = 0
      }
      const written = fs.writeSync(file, bytes)
      kept = bytes.subarray(0, written).lastIndexOf(10) + 1
      if (kept < written) fs.ftruncateSync(file, size + kept)
      offset += kept
      size += kept
    } catch {
      // Told later.
    }
    if (kept >= note.length) lost = 0
    count(bytes.subarray(Math.max(kept, note.length)))
  }

  return {
    /** Whole lines, with their newlines. After a loss they wait for its note, or the last free bytes fill with notes. */
    write: (lines: Buffer): void => lost > 0 ? count(lines) : store(lines),
    /** Tries again, once a second. */
    tellLoss: (): void => {
      if (lost > 0) store(Buffer.alloc(0))
    }
  }
}
