import { Images } from "#src/images/Images.ts"
import { ImageLimits, type Limits } from "#src/images/limits.ts"
import { Mirror } from "#src/images/Mirror.ts"
import { GuardedHttp } from "#src/shared/GuardedHttp.ts"
import { Context, Effect, Layer } from "effect"
import { settingsTest, temporaryDirectory } from "../support/Settings.ts"

export interface Bench {
  readonly allow?: ReadonlyArray<string>
  readonly home?: string
  readonly limits?: Partial<Limits>
  readonly production?: boolean
  readonly variables?: Readonly<Record<string, string>>
}

const defaults = Context.get(Context.empty() as Context.Context<ImageLimits>, ImageLimits)

/** The real service over a home of its own. */
export const imagesTest = (bench: Bench = {}) =>
  Mirror.Default.pipe(
    Layer.provideMerge(Images.Default),
    Layer.provide(GuardedHttp.Default),
    Layer.provide(settingsTest({
      BERTH_HOME: bench.home ?? temporaryDirectory("images"),
      ALLOWED_PRIVATE_HOSTS: (bench.allow ?? []).join(","),
      ...(bench.production === true
        ? { NODE_ENV: "production", SECRET_KEY: Buffer.alloc(32, 7).toString("base64") }
        : {}),
      ...bench.variables
    })),
    Layer.provide(Layer.succeed(ImageLimits, { ...defaults, ...bench.limits })),
    Layer.orDie
  )

/** Resolve, mirror and unpack, as a deployment does. */
export const deployImage = (imageUri: string) =>
  Effect.gen(function*() {
    const images = yield* Images
    const resolved = yield* images.resolve(imageUri)
    yield* images.mirror(resolved)
    return { resolved, ...yield* images.unpack(resolved.digest) }
  })
