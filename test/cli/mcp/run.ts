import { run } from "#src/cli/root.ts"
import { FetchHttpClient, Terminal } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { ConfigProvider, Console, Effect, Layer, Mailbox, Option } from "effect"
import { format } from "node:util"

export interface Output {
  readonly code: number
  readonly out: string
  readonly err: string
}

export const ctrlD = "\u0004"

/** A terminal where somebody presses one of these keys at each question, or none. */
const terminalOf = (keys: string | undefined) => {
  const coming = [...keys ?? ""]
  return Layer.succeed(Terminal.Terminal, {
    columns: Effect.succeed(80),
    rows: Effect.succeed(24),
    isTTY: Effect.succeed(keys !== undefined),
    readLine: new Terminal.QuitException(),
    display: () => Effect.void,
    readInput: Effect.gen(function*() {
      const pressed = yield* Mailbox.make<Terminal.UserInput>()
      const name = coming.shift()
      if (name !== undefined) {
        const key = name === ctrlD ? { name: "d", ctrl: true } : { name, ctrl: false }
        yield* pressed.offer({ input: Option.some(name), key: { ...key, meta: false, shift: false } })
      }
      return pressed
    })
  })
}

/** Runs the command line in this process, with its own console, environment, terminal and exit code. */
export const berthCli = async (
  args: ReadonlyArray<string>,
  env: Record<string, string> = {},
  keys?: string
): Promise<Output> => {
  const out: Array<string> = []
  const err: Array<string> = []
  const to = (lines: Array<string>) => (...values: ReadonlyArray<unknown>) =>
    Effect.sync(() => void lines.push(format(...values)))
  const base = Effect.runSync(Console.consoleWith(Effect.succeed))
  // Not the process's own, whose output has a sink of its own (src/cli/log-output.ts).
  const console = { ...base, unsafe: { ...base.unsafe }, log: to(out), error: to(err) }
  process.exitCode = 0
  try {
    const exit = await run(["node", "berth", ...args]).pipe(
      Effect.provide(Layer.mergeAll(NodeContext.layer, FetchHttpClient.layer, terminalOf(keys))),
      Effect.withConsole(console),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(env)))),
      Effect.exit,
      Effect.runPromise
    )
    const code = exit._tag === "Failure" ? 1 : Number(process.exitCode)
    return { code, out: out.join("\n"), err: err.join("\n") }
  } finally {
    process.exitCode = 0
  }
}
