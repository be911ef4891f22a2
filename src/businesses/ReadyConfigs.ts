import { anyScope, withPolicy } from "#src/accounts/Policy.ts"
import { BadRequest, failsWith } from "#src/shared/Failure.ts"
import { Effect, Option, Schema } from "effect"
import { BusinessNotFound } from "./Business.ts"
import { Businesses } from "./Businesses.ts"
import { readyConfigOf } from "./ready-config.ts"
import { ReadyConfigsRepo, type Source } from "./ReadyConfigsRepo.ts"

/** There is a configuration once a server is linked, which is what it is for. */
export class ConfigNotGenerated
  extends Schema.TaggedError<ConfigNotGenerated>()("ConfigNotGenerated", {}, failsWith(404, "CONFIG_NOT_GENERATED"))
{
  override get message() {
    return "The business has no configuration yet: link a server to it"
  }
}

const longestId = 26

/** Made anew at every read from what is stored: a configuration can't be older than its business. */
export class ReadyConfigs extends Effect.Service<ReadyConfigs>()("businesses/ReadyConfigs", {
  effect: Effect.gen(function*() {
    const repo = yield* ReadyConfigsRepo
    const businesses = yield* Businesses

    const generate = Effect.fn("ReadyConfigs.generate")(function*(source: Source) {
      const { serverId } = source
      if (serverId === null) return yield* new ConfigNotGenerated()
      return readyConfigOf({ ...source, serverId }, yield* businesses.openIntegrations(source))
    })

    const get = Effect.fn("ReadyConfigs.get")(function*(businessId: string) {
      if (businessId === "" || businessId.length > longestId) {
        return yield* new BadRequest({ reason: `A business id has 1 to ${longestId} characters` })
      }
      const { id } = yield* businesses.visible(businessId)
      return yield* Option.match(yield* repo.ofBusiness(id), {
        onNone: () => new BusinessNotFound(),
        onSome: generate
      })
    }, withPolicy(anyScope("servers:read")))

    /** The configuration that a server is deployed with; for the platform and the server itself. */
    const ofServer = Effect.fn("ReadyConfigs.ofServer")((serverId: string) =>
      Effect.flatMap(
        repo.ofServer(serverId),
        Option.match({
          onNone: () => Effect.succeedNone,
          onSome: (source) => Effect.option(generate(source))
        })
      )
    )

    return { get, ofServer } as const
  })
}) {}
