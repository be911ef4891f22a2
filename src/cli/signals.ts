/** A terminal and npm both hand on a Ctrl-C: its repetition within this time is the same one. */
const echo = 1_000
/** What a hurried end may take. */
const hurriedMillis = 3_000

let first: number | undefined
let count = 0
let limitMillis = 10_000
let hurry = () => {}

/** The last resort: whatever still holds the process up does so no longer. What it leaves the next start takes up. */
const endAfter = (milliseconds: number) =>
  setTimeout(() => {
    process.stderr.write(`Not everything had ended after ${milliseconds / 1000} seconds; leaving it\n`)
    process.exit(1)
  }, milliseconds).unref()

/** How long the process takes for its end, and what is done when it shall end at once. */
export const endWithin = (seconds: number, onHurry: () => void) => {
  limitMillis = seconds * 1000
  hurry = onHurry
}

/** The process is to end, for a reason of its own. */
export const beginEnd = () => {
  if (first !== undefined) return
  first = performance.now()
  endAfter(limitMillis)
}

/** A signal that asks for the end: the first begins it, a second (later) or a third hurries it. */
export const noteSignal = () => {
  count++
  if (first === undefined) return beginEnd()
  if (count < 3 && performance.now() - first < echo) return
  hurry()
  endAfter(hurriedMillis)
}
