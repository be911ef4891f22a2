import { spawn } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { freshAddress } from "../../support/http.ts"
import { temporaryDirectory } from "../../support/Settings.ts"
import { type Peers } from "./peers.ts"

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** A user's machine without a browser of its own: nothing that opens one is on its PATH. It keeps sign-ins. */
export const newMachine = () => {
  const home = temporaryDirectory("peer")
  const bin = join(home, "bin")
  mkdirSync(bin)
  const environment: Readonly<Record<string, string>> = {
    HOME: home,
    PATH: bin,
    MCP_REMOTE_CONFIG_DIR: join(home, "mcp-remote"),
    // No keychain is here, and none is wanted.
    MCP_INSPECTOR_SECRET_STORE: "file",
    NODE_OPTIONS: `--import=${join(import.meta.dirname, "localhost-names.mjs")}`,
    NO_COLOR: "1"
  }
  // A rate limit of its own. mcp-remote keeps a sign-in by the headers that it was given, too.
  return { environment, address: freshAddress() }
}
export type Machine = ReturnType<typeof newMachine>

/** What a person does with the URL that a program asks to open. */
export type Browse = (url: string) => Promise<unknown>

/** Has the first URL browsed that the program prints for that; `refused` settles only when that fails. */
export const browsing = (output: Readable, browse: Browse) => {
  let printed = ""
  let asked = false
  const refused = new Promise<never>((_resolve, reject) => {
    output.on("data", (chunk: Buffer) => {
      printed += chunk.toString()
      const url = /(https?:\/\/\S+\/oauth\/authorize\?\S+)\s/.exec(printed)?.[1]
      if (asked || url === undefined) return
      asked = true
      browse(url).catch((cause: unknown) => reject(new Error(`nobody approved; it printed\n${printed}`, { cause })))
    })
  })
  return { refused }
}

export const never: Browse = () => Promise.reject(new Error("a sign-in was asked for"))

export const runNode = async (
  { node }: Peers,
  args: ReadonlyArray<string>,
  { browse = never, environment, says = "stderr", timeout = 30_000, types }: {
    readonly environment: Machine["environment"]
    readonly browse?: Browse
    /** Where it says which URL to open. */
    readonly says?: "stdout" | "stderr"
    readonly timeout?: number
    /** Browses, too, and gives what the person then types. */
    readonly types?: (url: string) => Promise<string>
  }
): Promise<Outcome> => {
  const child = spawn(node, args, { env: environment, timeout })
  const typing: Browse | undefined = types && (async (url) => child.stdin.end(`${await types(url)}\n`))
  const { refused } = browsing(child[says], typing ?? browse)
  let out = ""
  let err = ""
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()))
  if (typing === undefined) child.stdin.end()
  const ended = new Promise<Outcome>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code) => resolve({ code: code ?? -1, out, err }))
  })
  try {
    return await Promise.race([ended, refused])
  } finally {
    child.kill("SIGKILL")
  }
}
