#!/usr/bin/env node
import { existsSync } from "node:fs"
import module from "node:module"

// npx makes its link to a file that is there, once for all: this one is in the repository, what the build makes is not.
const program = new URL("../dist/berth.js", import.meta.url)

if (existsSync(program)) {
  // From Node 22 on what V8 has compiled is kept from one start to the next.
  module.enableCompileCache?.()
  await import(program.href)
} else {
  console.error("Berth is not built here yet. Run npm run build, or wait until npm start has built it.")
  process.exitCode = 1
}
