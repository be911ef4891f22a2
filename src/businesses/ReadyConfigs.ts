import { type Actor, CurrentActor } from "#src/accounts/CurrentActor.ts"
import { anyScope, mayDo, withPolicy } from "#src/accounts/Policy.ts"
import { isBlank } from "#src/format/blank.ts"
import { BadRequest, failsWith } from "#src/shared/Failure.ts"
import { Effect, Option, Schema } from "effect"
import { BusinessNotFound } from "./Business.ts"
import { Businesses } from "./Businesses.ts"
import { readyConfigOf } from "./ready-config-of.ts"
import { ReadyConfigsRepo, type Source } from "./ReadyConfigsRepo.ts"

/** A configuration is for a linked server: without one there is none. */
export class ConfigNotGenerated
  extends Schema.TaggedError<ConfigNotGenerated>()("ConfigNotGenerated", {}, failsWith(404, "CONFIG_NOT_GENERATED"))
{
  override get message() {
    return "The business has no configuration yet: link a server to it"
  }
}

const longestId = 26

/** Integrations are the business's credentials: a read scope must not give the power to act with them. */
const mayReadIntegrations = (actor: Actor) => mayDo(actor, ["servers:write"]) || mayDo(actor, "session")

/** Built from the stored business at every read, so that a configuration is never stale. */
export class ReadyConfigs extends Effect.Service<ReadyConfigs>()("businesses/ReadyConfigs", {
  effect: Effect.gen(function*() {
    const repo = yield* ReadyConfigsRepo
    const businesses = yield* Businesses

    const generate = Effect.fn("ReadyConfigs.generate")(function*(source: Source, withIntegrations: boolean) {
      const { serverId } = source
      if (serverId === null) return yield* new ConfigNotGenerated()
      const integrations = withIntegrations ? yield* businesses.openIntegrations(source) : undefined
      return readyConfigOf({ ...source, serverId }, integrations)
    })

    const get = Effect.fn("ReadyConfigs.get")(function*(businessId: string) {
      if (isBlank(businessId) || businessId.length > longestId) {
        return yield* new BadRequest({ reason: `A business id has 1 to ${longestId} characters` })
      }
      const { id } = yield* businesses.visible(businessId)
      const actor = yield* CurrentActor
      return yield* Option.match(yield* repo.ofBusiness(id), {
        onNone: () => new BusinessNotFound(),
        onSome: (source) => generate(source, mayReadIntegrations(actor))
      })
    }, withPolicy(anyScope("servers:read")))

    /** The configuration that a server is deployed with. Doesn't authorize: for the platform and the server itself. */
    const ofServer = Effect.fn("ReadyConfigs.ofServer")((serverId: string) =>
      Effect.flatMap(
        repo.ofServer(serverId),
        Option.match({
          onNone: () => Effect.succeedNone,
          onSome: (source) => Effect.option(generate(source, true))
        })
      )
    )

    return { get, ofServer } as const
  })
}) {}
