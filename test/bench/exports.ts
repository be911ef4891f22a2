/**
 * The share of exports that are imported as their owners would expect, with the suggested mappings; the rest with what
 * is different, and whether a warning tells it.
 *
 *   npm run bench exports
 */
import { corpus } from "../imports/exports/corpus.ts"
import { judge } from "../imports/exports/judge.ts"

const verdicts = corpus.map(judge)
const others = verdicts.filter(({ isAsExpected }) => !isAsExpected)
const share = (verdicts.length - others.length) / verdicts.length
console.log(`${verdicts.length} exports, ${(100 * share).toFixed(1)} % as expected (aim: 95 %)`)
for (const { differences, isTold, messages, title } of others) {
  console.log(`\n${title}: ${isTold ? "told" : "NOT TOLD"}`)
  for (const difference of differences.slice(0, 6)) console.log(`  ${difference}`)
  for (const message of messages.slice(0, 6)) console.log(`    warning: ${message}`)
}
