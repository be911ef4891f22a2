import { CliFailure } from "#src/cli/CliFailure.ts"
import { exitCodes } from "#src/cli/exit-codes.ts"
import { parseUrl } from "#src/format/parse-url.ts"
import { imageError, type ImageErrorReason } from "#src/images/ImageError.ts"
import { ImageLimits } from "#src/images/limits.ts"
import { hasManifest, type Pushed, pushImage } from "#src/images/push-image.ts"
import { registryCalls } from "#src/images/registry-calls.ts"
import { sendable } from "#src/images/sendable.ts"
import { makeStore } from "#src/images/Store.ts"
import { type Server } from "#src/servers/Server.ts"
import { megabytes } from "#src/shared/bytes.ts"
import { makeGuardedHttp } from "#src/shared/GuardedHttp.ts"
import { documentUrl } from "#src/shared/well-known.ts"
import { HttpClient, HttpClientResponse } from "@effect/platform"
import { Console, Effect, Option, Schema } from "effect"
import { keptUploads } from "./kept-uploads.ts"
import { type Connected } from "./platform.ts"

/** Bytes of one request: what is lost at the most where a proxy passes on only what has arrived whole. */
const chunkBytes = 16 * 1024 ** 2

/** Shows on a terminal how far a push is; says nothing in a pipe. */
const progressOf = (total: number) => {
  const isTerminal = process.stderr.isTTY === true
  return {
    tell: ({ present, sent }: Pushed) => {
      if (isTerminal) process.stderr.write(`\r\u001b[KPushing ${megabytes(present + sent)} of ${megabytes(total)}`)
    },
    end: Effect.sync(() => {
      if (isTerminal) process.stderr.write("\r\u001b[K")
    })
  }
}

const codes: Partial<Record<ImageErrorReason, number>> = {
  unauthorized: exitCodes.notLetIn,
  over_plan: exitCodes.planLimit,
  unreachable: exitCodes.noAnswer
}

/** Whether a refusal's details are those of the plan's limit (docs/decisions/account-quotas.md). */
const isOfPlan = Schema.is(Schema.Struct({ plan: Schema.String, limit: Schema.String }))

const Itself = Schema.Struct({ resource: Schema.String })

/**
 * The host by which the installation names its own images: that of its BASE_URL, which its API's document names (RFC 9728).
 * It may be reached by another address.
 */
const ownHost = Effect.fn("cli.ownHost")(function*(root: string) {
  const found = yield* HttpClient.get(documentUrl(`${root}/v1`)).pipe(
    Effect.flatMap(HttpClientResponse.schemaBodyJson(Itself)),
    Effect.scoped,
    Effect.option
  )
  return parseUrl(Option.match(found, { onNone: () => root, onSome: ({ resource }) => resource }))?.host ??
    new URL(root).host
})

/** Pushes an image of a layout to the installation, below the server's project; answers with its address. */
export const pushLayout = Effect.fn("cli.pushLayout")(
  function*({ bearer, root }: Connected, server: Server, layout: string, digest: string, cache: string) {
    const limits = yield* ImageLimits
    const { host } = new URL(root)
    const http = yield* makeGuardedHttp([host])
    const repository = `${server.projectId.toLowerCase()}/${server.slug}`
    const calls = yield* registryCalls({ http, limits, loopback: true }, {
      root,
      registry: host,
      repository,
      actions: "pull,push",
      // A push can take longer than an access token lives.
      authorize: Effect.mapBoth(bearer, {
        onSuccess: (token) => `Bearer ${token}`,
        onFailure: ({ code, message }) =>
          imageError(code === exitCodes.noAnswer ? "unreachable" : "unauthorized", message)
      }),
      refused: (_what, said) =>
        imageError(
          isOfPlan(said?.detail) ? "over_plan" : "unauthorized",
          said?.message ??
            "The installation refuses the image: your login has ended, or your key lacks deployments:write"
        )
    })
    const image = yield* sendable(makeStore(layout), digest, limits)
    const imageUri = `${yield* ownHost(root)}/${repository}@${digest}`
    if (yield* hasManifest(calls, image, limits.documentMs)) {
      yield* Console.error("The image is there already: nothing has changed since it was pushed")
      return imageUri
    }
    const total = image.blobs.reduce((sum, { size }) => sum + size, 0)
    const progress = progressOf(total)
    yield* Console.error(`Pushing the image (${megabytes(total)})`)
    const { present, sent } = yield* pushImage(calls, image, {
      tag: "latest",
      // Another project of the account may have the layers, Node's first of all.
      mountAnywhere: true,
      kept: yield* keptUploads(cache, `${root}/v2/${repository}`),
      chunkBytes,
      pauseMs: limits.pushPauseMs,
      blobMs: limits.blobMs,
      documentMs: limits.documentMs,
      onProgress: progress.tell
    }).pipe(Effect.ensuring(progress.end))
    yield* Console.error(`Pushed: ${megabytes(sent)} sent, ${megabytes(present)} were there`)
    return imageUri
  },
  Effect.mapError((error) => new CliFailure({ message: error.message, code: codes[error.reason] ?? exitCodes.failed }))
)
