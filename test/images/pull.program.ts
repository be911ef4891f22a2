import { Images } from "#src/images/Images.ts"
import { Effect } from "effect"
import { imagesTest } from "./bench.ts"

/** Mirrors ARGV[2] into the home ARGV[3]; the test kills it on the way. */
const [, , uri = "", home = ""] = process.argv
await Effect.runPromise(
  Effect.gen(function*() {
    const images = yield* Images
    yield* images.mirror(yield* images.resolve(uri))
  }).pipe(Effect.provide(imagesTest({ allow: [uri.split("/")[0] ?? ""], home })))
)
