import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { text } from "node:stream/consumers"

/** The program's file and what V8 made of it, beside the launcher. */
export const programFile = "server.cjs"
export const compiledFile = "server.cjs.compiled"

/** The function that V8 knows a program by: it must be alike where it is compiled and where it runs. Bundles are ASCII. */
const load = `const { readFileSync } = require("node:fs")
const scriptOf = (file, cachedData) => new (require("node:vm").Script)(
  "(function (exports, require, module, __filename, __dirname) {" + readFileSync(file, "latin1") + "\\n})",
  { filename: file, cachedData })
const run = (script, file) => script.runInThisContext()({}, require, { exports: {} }, file, require("node:path").dirname(file))
`

/** Runs the program; where there is another Node than the one that compiled it, V8 compiles it again. */
export const launcher = `${load}
const file = __dirname + "/${programFile}"
run(scriptOf(file, readFileSync(__dirname + "/${compiledFile}")), file)
`

/**
 * Runs the program until it would listen, and writes what V8 has compiled by then. In a thread with so much room that
 * nothing is collected, and from one seed, so that the same program gives the same bytes.
 */
export const compiler = `const { isMainThread, Worker, workerData } = require("node:worker_threads")
if (isMainThread) {
  const [file, out] = process.argv.slice(1)
  new Worker(process.env.COMPILER, { eval: true, workerData: { file, out }, resourceLimits: { maxYoungGenerationSizeMb: 512 } })
} else {
  ${load}
  const { file, out } = workerData
  const script = scriptOf(file)
  require("node:net").Server.prototype.listen = () => setImmediate(() => {
    require("node:fs").writeFileSync(out, script.createCachedData())
    process.exit()
  })
  run(script, file)
}
`

/**
 * V8's code cache of a program that listens, for the Node that runs this: it starts in two thirds of the time.
 *
 * @param env what the program must find in its environment to start
 * @param scratch a folder for what is needed meanwhile, which its owner removes
 */
export const compileProgram = async (
  file: string,
  env: Readonly<Record<string, string>>,
  scratch: string
): Promise<Buffer> => {
  const out = join(scratch, "compiled")
  const child = spawn(process.execPath, ["--random-seed=1", "-e", compiler, file, out], {
    env: { ...env, COMPILER: compiler },
    stdio: ["ignore", "ignore", "pipe"]
  })
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")])
  return readFile(out).catch(() => {
    throw new Error(`${file} ended with ${String(code)} before it listened: ${said.trim()}`)
  })
}
