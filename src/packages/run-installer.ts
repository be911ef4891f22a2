import { abortable } from "#src/images/abortable.ts"
import { type ImageError, imageError, storageError } from "#src/images/ImageError.ts"
import { forgetProcess, noteProcess, tiedOnGo } from "#src/machines/tied-process.ts"
import { type Effect } from "effect"
import { spawn } from "node:child_process"
import { readdir, stat } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout as setPause } from "node:timers/promises"

export interface Installation {
  /** For messages: npm, pip, or uv. */
  readonly name: string
  readonly program: string
  readonly args: ReadonlyArray<string>
  /** Its folder, which alone it may fill. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

const milliseconds = 5 * 60_000
/** Of an installation, before and after its scripts. */
export const mostBytes = 2 * 1024 ** 3
/** Of files and folders: each costs time and memory, however small it is. */
export const mostFiles = 50_000
const lookEvery = 2_000
const longestOutput = 20_000

/** What is below a folder; what goes away meanwhile is not counted. Looks no further once there are more files. */
const extentOf = async (folder: string, most: number) => {
  const extent = { bytes: 0, files: 0 }
  const folders = [folder]
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true }).catch(() => [])) {
      const path = join(at, entry.name)
      extent.files += 1
      if (extent.files > most) return extent
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile()) extent.bytes += await stat(path).then(({ size }) => size, () => 0)
    }
  }
  return extent
}

/** Bytes of the files below a folder. */
export const sizeBelow = (folder: string): Promise<number> => extentOf(folder, Infinity).then(({ bytes }) => bytes)

/** Why an installation is too large, if it is. */
const excess = async (folder: string) => {
  const { bytes, files } = await extentOf(folder, mostFiles)
  if (files > mostFiles) return `wrote more than ${mostFiles.toLocaleString("en")} files`
  return bytes > mostBytes ? `wrote more than ${mostBytes / 1024 ** 3} GiB` : undefined
}

/**
 * Runs an installer with nothing of the platform's environment, within limits of time and space; answers with the end
 * of its standard error. It ends with the platform; where it can't be made to, the next one finds it by its note.
 */
export const runInstaller = ({ args, cwd, env, name, program }: Installation): Effect.Effect<string, ImageError> =>
  abortable(async (signal) => {
    const [shell, command] = await tiedOnGo(program, args)
    signal.throwIfAborted()
    // A group of its own, so that whatever it starts ends with it.
    const child = spawn(shell, command, { cwd, env, stdio: ["pipe", "ignore", "pipe"], detached: true })
    let output = ""
    let ended: string | undefined
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-longestOutput)
    })
    const end = (reason: string) => {
      ended ??= reason
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      } catch {
        // It has ended by itself.
      }
    }
    const timer = setTimeout(() => end(`took longer than ${milliseconds / 60_000} minutes`), milliseconds)
    let isOver = false
    const watch = async () => {
      while (!isOver) {
        await setPause(lookEvery, undefined, { ref: false })
        const reason = isOver ? undefined : await excess(cwd)
        if (reason !== undefined) end(reason)
      }
    }
    void watch()
    const stop = () => end("was stopped")
    signal.addEventListener("abort", stop)
    const closed = new Promise<number | null>((resolve, reject) => {
      child.on("error", reject)
      child.on("close", resolve)
    })
    try {
      child.stdin.on("error", () => undefined)
      noteProcess(cwd, child.pid)
      child.stdin.end("go\n")
      const code = await closed
      if (ended !== undefined) throw imageError("too_large", `${name} ${ended}`)
      // One that was done before the next look.
      const reason = await excess(cwd)
      if (reason !== undefined) throw imageError("too_large", `${name} ${reason}`)
      // Where the platform keeps its files is nobody's business.
      const said = output.replaceAll(cwd, "").trim()
      if (code !== 0) throw imageError("invalid_image", `${name} failed: ${said || `it exited with ${code}`}`)
      return output
    } finally {
      signal.removeEventListener("abort", stop)
      clearTimeout(timer)
      isOver = true
      // One that was not told to go ends.
      child.stdin.destroy()
      forgetProcess(cwd)
    }
  }, storageError(`Running ${name}`))
