/** Milliseconds. The terminal and npm both forward a Ctrl-C, so a repetition within this time is the same one. */
const echo = 1_000
/** Time limit of a hurried shutdown. */
const hurriedMillis = 3_000

let first: number | undefined
let count = 0
let limitMillis = 10_000
let hurry = () => {}

/** The last resort: exits although something is still running. The next start cleans up what is left. */
const exitAfter = (milliseconds: number) =>
  setTimeout(() => {
    process.stderr.write(`The shutdown did not finish within ${milliseconds / 1000} seconds; exiting anyway\n`)
    process.exit(1)
  }, milliseconds).unref()

/** Sets the time limit of the shutdown, and what to do when it must hurry. */
export const limitShutdown = (seconds: number, onHurry: () => void) => {
  limitMillis = seconds * 1000
  hurry = onHurry
}

/** Starts the time limit of the shutdown, without a signal too. */
export const beginShutdown = () => {
  if (first !== undefined) return
  first = performance.now()
  exitAfter(limitMillis)
}

/** Counts a stop signal: the first begins the shutdown, a second (after `echo`) or a third hurries it. */
export const noteSignal = () => {
  count++
  if (first === undefined) return beginShutdown()
  if (count < 3 && performance.now() - first < echo) return
  hurry()
  exitAfter(hurriedMillis)
}
