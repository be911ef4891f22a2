import { bundledProgram } from "#src/shared/bundled-program.ts"
import { Invalid } from "#src/shared/Failure.ts"
import { type ThreadFailed, type ThreadOptions, threads } from "#src/shared/threads.ts"
import { Effect } from "effect"
import { FileTooLarge, formatOf, limits, UnsupportedFormat, type Upload } from "./Import.ts"
import { ColumnsNotMapped } from "./Mappings.ts"
import { type Fault } from "./plan.ts"
import { type Read } from "./read-in-thread.ts"

/** The worst of ten megabytes take a second, and 150 MB beside themselves. */
const options: ThreadOptions = {
  file: () => bundledProgram("read-thread.js"),
  threads: 2,
  resourceLimits: { maxOldGenerationSizeMb: 512 },
  within: 30_000
}

const invalid = ({ choice, message, path }: Fault) =>
  choice === undefined ? Invalid.field(path, message) : new ColumnsNotMapped({
    issues: [{ path, message }],
    columns: choice.columns,
    suggested_mappings: choice.suggestion.mappings,
    price_candidates: choice.suggestion.undecided,
    source_program: choice.suggestion.program
  })

const refusals = {
  crash: "could not be read: save it anew as a plain CSV file, and import that",
  memory: "takes more memory to read than an import has: split it into smaller files",
  time: "takes longer to read than an import may: split it into smaller files"
} as const

const refuse = ({ detail, reason }: ThreadFailed) =>
  Effect.zipRight(
    Effect.logError(`Reading an import failed: ${detail}`),
    Invalid.field("file", refusals[reason])
  )

/** Reads files in threads of their own, apart from requests: untrusted text of megabytes takes a second and more. */
export const makeFileReader = (changed: Partial<ThreadOptions> = {}) =>
  Effect.map(
    threads<Upload, Read>({ ...options, ...changed }),
    (ask) =>
      Effect.fn("Imports.reading")(function*(upload: Upload) {
        if (formatOf(upload.filename) === undefined) return yield* new UnsupportedFormat()
        if (upload.bytes.length > limits.fileBytes) return yield* new FileTooLarge()
        const read = yield* Effect.catchTag(ask(upload), "ThreadFailed", refuse)
        return "fault" in read ? yield* invalid(read.fault) : read.reading
      })
  )
