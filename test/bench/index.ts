/**
 * npm run bench [name [arguments]]: one of the benches below, or all of them, one after the other, of the sources as they
 * are: the program and the package of the command line are built first, so that no bench finds none, or an old one.
 */
import { spawn, spawnSync } from "node:child_process"
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
  "first-package",
  "start"
]
const [wanted, ...rest] = process.argv.slice(2)
if (wanted !== undefined && !names.includes(wanted)) {
  console.error(`There is no bench ${wanted}; there are ${names.join(", ")}`)
  process.exit(1)
}

const build = (...args: ReadonlyArray<string>) => {
  const { status } = spawnSync("npm", ["run", "--silent", "build", "--", ...args], { stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}
build()
if (wanted === undefined || wanted === "command-line") build("--config", "packages/cli/tsup.config.ts")

for (const name of wanted === undefined ? names : [wanted]) {
  const busy = () => loadavg()[0]!.toFixed(1)
  console.log(`${name}: ${cpus().length} cores, load average ${busy()} before, Node ${process.version}`)
  const file = join(import.meta.dirname, `${name}.ts`)
  const child = spawn(process.execPath, [...process.execArgv, file, ...rest], { stdio: "inherit" })
  const [code] = await once(child, "exit") as [number | null]
  if (code !== 0) process.exit(code ?? 1)
  console.log(`${name}: load average ${busy()} after\n`)
}
