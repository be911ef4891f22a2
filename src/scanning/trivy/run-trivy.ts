import { abortable } from "#src/images/abortable.ts"
import { tied } from "#src/machines/tied-process.ts"
import { messageOf } from "#src/shared/message-of.ts"
import { spawn } from "node:child_process"
import { constants } from "node:fs"
import { access, stat } from "node:fs/promises"
import { delimiter, isAbsolute, join } from "node:path"
import { ScanError } from "../Scanner.ts"

const MiB = 1024 ** 2
const longestReport = 64 * MiB
const longestError = 2_000

/** The program of a name in the folders of PATH; relative ones don't count. */
export const onPath = async (name: string, path: string): Promise<string | undefined> => {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const file = join(folder, name)
    const isProgram = await access(file, constants.X_OK).then(() => stat(file)).then(
      (stats) => stats.isFile(),
      () => false
    )
    if (isProgram) return file
  }
  return undefined
}

interface Run {
  readonly program: string
  /** Holds the OCI layout `image`, and nothing that Trivy would take for its configuration. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly seconds: number
}

const argumentsOf = (seconds: number) => [
  ...["image", "--input", "image", "--format", "json", "--scanners", "vuln"],
  ...["--quiet", "--no-progress", "--timeout", `${seconds}s`]
]

/** What Trivy prints of an image: its report. */
export const runTrivy = ({ cwd, env, program, seconds }: Run) =>
  abortable(async (signal) => {
    const [first, ...args] = await tied(program, argumentsOf(seconds))
    signal.throwIfAborted()
    // A group of its own, so that whatever it starts ends with it; and with the platform.
    const child = spawn(first, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true })
    const report: Array<Buffer> = []
    let size = 0
    let said = ""
    let ended: string | undefined
    const end = (reason: string) => {
      ended ??= reason
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      } catch {
        // It has ended by itself.
      }
    }
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-longestError)
    })
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size > longestReport) return end(`printed more than ${longestReport / MiB} MiB`)
      report.push(chunk)
    })
    const stop = () => end("was stopped")
    signal.addEventListener("abort", stop)
    try {
      const code = await new Promise<number | null>((resolve, reject) => {
        child.on("error", reject)
        child.on("close", resolve)
      })
      if (ended !== undefined) throw new ScanError({ message: `Trivy ${ended}` })
      if (code !== 0) {
        // Where the platform keeps its files is nobody's business.
        const why = said.replaceAll(cwd, "").trim().slice(-500)
        throw new ScanError({ message: `Trivy failed: ${why || `it exited with ${String(code)}`}` })
      }
      return Buffer.concat(report).toString("utf8")
    } finally {
      signal.removeEventListener("abort", stop)
    }
  }, (cause) =>
    cause instanceof ScanError ? cause : new ScanError({ message: `Trivy can't be run: ${messageOf(cause)}` }))
