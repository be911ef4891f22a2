import { type MachineLine } from "#src/machines/Machines.ts"
import { type Mask } from "#src/servers/mask.ts"

/** More lines than another stream writes between two parts of one. */
const maxWaiting = 200

const streams = ["stdout", "stderr"] as const

/** Each stream's last line, if it was cut: what comes next goes on with it. */
export const goingOn = (lines: ReadonlyArray<MachineLine>): ReadonlyArray<MachineLine> =>
  streams.flatMap((stream) => lines.findLast((line) => line.stream === stream) ?? []).filter(({ isCut }) => isCut)

/**
 * Where lines begin that wait for what follows: from the first one on that was cut, and does not go on yet. Undefined:
 * none does, or they have waited for long enough.
 */
export const waitsFrom = (lines: ReadonlyArray<MachineLine>): number | undefined => {
  const open = goingOn(lines)
  const from = Math.min(...open.map((line) => lines.lastIndexOf(line)))
  return open.length === 0 || lines.length - from > maxWaiting ? undefined : from
}

const goesOn = (lines: ReadonlyArray<MachineLine>, at: number) =>
  lines.findIndex(({ stream }, i) => i > at && stream === lines[at]?.stream) !== -1

/**
 * Lines without what must not be read, also where it begins in one part of a line that was cut, and ends in the next.
 * `before` are the last lines that were masked already: a part of one of them may go on here.
 */
export const maskLines = <Line extends MachineLine>(
  mask: Mask,
  before: ReadonlyArray<MachineLine>,
  lines: ReadonlyArray<Line>
): ReadonlyArray<Line> => {
  const all: ReadonlyArray<MachineLine> = [...before, ...lines]
  const texts = all.map(({ text }) => text)
  for (const stream of streams) {
    let group: Array<number> = []
    for (const [i, line] of all.entries()) {
      if (line.stream !== stream) continue
      group.push(i)
      if (line.isCut && goesOn(all, i)) continue
      const masked = mask(group.map((at) => all[at]?.text ?? ""))
      for (const [n, at] of group.entries()) texts[at] = masked[n] ?? ""
      group = []
    }
  }
  return lines.map((line, i) => ({ ...line, text: texts[before.length + i] ?? "" }))
}
