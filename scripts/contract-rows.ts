import { readdirSync, readFileSync } from "node:fs"
import { rows } from "../test/contract/rows.ts"

const folder = new URL("../test/", import.meta.url)
const tests = readdirSync(folder, { encoding: "utf8", recursive: true }).filter((name) => name.endsWith(".test.ts"))
const tested = new Set(
  tests.flatMap((name) => [...readFileSync(new URL(name, folder), "utf8").matchAll(/\brow\(\s*"([^"]+)"/g)])
    .map((match) => match[1])
)

let count = 0
for (const [section, names] of Object.entries(rows)) {
  console.log(`\n${section}`)
  for (const name of names) {
    const has = tested.has(name)
    if (has) count++
    console.log(`  ${has ? "test   " : "       "} ${name}`)
  }
}
const all = Object.values(rows).flat().length
console.log(`\n${count} of ${all} rows have a test`)
