import { Args, Command, Options } from "@effect/cli"
import { Effect, Layer } from "effect"
import { orSay } from "./fail.ts"
import { json, show } from "./json-output.ts"

/** Loaded when a command runs, because its help doesn't need the platform. */
const database = Layer.unwrapEffect(
  Effect.map(Effect.promise(() => import("#src/Platform.ts")), ({ BackupLive }) => BackupLive)
)

const file = Args.text({ name: "file" }).pipe(Args.withDescription("The backup, by custom NAME.berth.tar.gz"))

const images = Options.boolean("images").pipe(
  Options.withDescription("Save the stored images too; without them they are pulled again after a restore")
)

/** Progress goes to standard error; the result goes to standard output. */
const onProgress = (message: string) => void process.stderr.write(`${message}\n`)

const keys = (keyIds: ReadonlyArray<string>) =>
  keyIds.length === 1 ? `the key ${keyIds[0]}` : `the keys ${keyIds.join(", ")}`

export const backupCommand = Command.make(
  "backup",
  { file, images, json },
  ({ file, images, json }) =>
    Effect.gen(function*() {
      const { backup } = yield* Effect.promise(() => import("#src/operations/backup/Backup.ts"))
      const { keyIds, rows } = yield* backup({ file, images, tell: json ? () => undefined : onProgress })
      const secrets = keyIds.length > 0 ? `\nKeep the secret key apart from it: a restore needs ${keys(keyIds)}` : ""
      yield* show(json, { file, rows, keyIds }, () => `Saved ${rows} rows to ${file}${secrets}`)
    }).pipe(Effect.provide(database), orSay)
).pipe(
  Command.withDescription("Save the installation, running or stopped, to one file; the secret key is not in it")
)

export const restoreCommand = Command.make("restore", { file, json }, ({ file, json }) =>
  Effect.gen(function*() {
    const { restore } = yield* Effect.promise(() => import("#src/operations/backup/Restore.ts"))
    const { createdAt, keyIds, rows } = yield* restore({ file, tell: json ? () => undefined : onProgress })
    const secrets = keyIds.length > 0
      ? `\nBefore the start give berth ${keys(keyIds)}: as SECRET_KEY, or as the file secret.key in its home`
      : ""
    yield* show(
      json,
      { file, createdAt, rows, keyIds },
      () => `Restored ${rows} rows, as they were at ${createdAt}${secrets}`
    )
  }).pipe(Effect.provide(database), orSay)).pipe(
    Command.withDescription("Bring an installation back from a backup, into an empty database")
  )
