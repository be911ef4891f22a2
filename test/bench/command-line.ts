/**
 * What processor time a command takes that asks nobody: of the package of the command line, of the platform's program,
 * and of Node itself, in turns.
 *
 *   npm run bench command-line
 */
import { resolve } from "node:path"
import { processorTime } from "../support/processor-time.ts"

const rounds = 15
const node = ["-e", "0"]
const [cli, platform] = [resolve("packages/cli/bin/berth.js"), resolve("bin/berth.js")]
const cases = [
  node,
  ...[["--version"], ["servers", "--help"], ["publish", "--help"]].flatMap((
    args
  ) => [[cli, ...args], [platform, ...args]])
]

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

const took = cases.map((): Array<number> => [])
const wall = cases.map((): Array<number> => [])
for (let round = 0; round < rounds; round++) {
  for (const [i, args] of cases.entries()) {
    const began = performance.now()
    took[i]!.push(processorTime(args))
    wall[i]!.push(performance.now() - began)
  }
}
for (const [i, args] of cases.entries()) {
  const ratio = median(took[i]!) / median(took[0]!)
  console.log(
    `node ${args.join(" ")}: ${Math.round(median(took[i]!))} ms of processor time, ${
      ratio.toFixed(1)
    } times Node's own, ` +
      `${Math.round(median(wall[i]!))} ms by the clock (medians of ${rounds})`
  )
}
