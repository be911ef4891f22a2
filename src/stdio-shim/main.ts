import { type Programs } from "#src/format/package-programs.ts"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { exitCodeOf } from "./Child.ts"
import { makeServer } from "./http.ts"
import { type Options, readOptions } from "./options.ts"
import { EndedEarly, Sessions } from "./Sessions.ts"

/**
 * The program of an image that was made of a package: it serves a stdio server over HTTP at PORT, or runs one that
 * serves HTTP by itself.
 */
const run = async () => {
  const programs = JSON.parse(readFileSync(new URL("programs.json", import.meta.url), "utf8")) as Programs
  const options = readOptions(process.argv.slice(2), programs)
  await (options.transport === "http" ? passThrough(options) : serve(options))
}

const passThrough = ({ args, program }: Options) => {
  const child = spawn(program, args, { stdio: "inherit" })
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => child.kill(signal))
  child.on("error", (error) => {
    process.stderr.write(`${program} could not be started: ${error.message}\n`)
    process.exit(1)
  })
  child.on("close", (code, signal) => process.exit(exitCodeOf(code, signal)))
}

const serve = async (options: Options) => {
  const sessions = new Sessions(options)
  const stop = () => void sessions.stop().then(() => process.exit(0))
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, stop)
  await sessions.warm()
  const server = makeServer(sessions, process.env["HEALTH_CHECK_PATH"])
  const port = Number(process.env["PORT"] ?? 8080)
  server.listen(port, () => process.stdout.write(`Serving MCP over HTTP at ${port}: ${options.processes} processes\n`))
}

run().catch((error: unknown) => {
  // Whoever looks at the machine learns of the program's end, and not of ours.
  if (error instanceof EndedEarly && error.exitCode !== undefined) process.exit(error.exitCode)
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
