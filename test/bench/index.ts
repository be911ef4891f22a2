/**
 * npm run bench [name [arguments]]: one of the benches below, or all of them, one after the other.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpus, loadavg } from "node:os"
import { join } from "node:path"

const names = [
  "gateway",
  "quota",
  "oauth",
  "directory",
  "requests",
  "imports",
  "exports",
  "logins",
  "recall",
  "hub",
  "composites",
  "fan-out",
  "command-line",
  "items",
  "mcp",
  "packages",
  "start"
]
const [wanted, ...rest] = process.argv.slice(2)
if (wanted !== undefined && !names.includes(wanted)) {
  console.error(`There is no bench ${wanted}; there are ${names.join(", ")}`)
  process.exit(1)
}

for (const name of wanted === undefined ? names : [wanted]) {
  const busy = () => loadavg()[0]!.toFixed(1)
  console.log(`${name}: ${cpus().length} cores, load average ${busy()} before, Node ${process.version}`)
  const file = join(import.meta.dirname, `${name}.ts`)
  const child = spawn(process.execPath, [...process.execArgv, file, ...rest], { stdio: "inherit" })
  const [code] = await once(child, "exit") as [number | null]
  if (code !== 0) process.exit(code ?? 1)
  console.log(`${name}: load average ${busy()} after\n`)
}
