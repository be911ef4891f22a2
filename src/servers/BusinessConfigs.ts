import { type ReadyConfig } from "#src/format/ReadyConfig.ts"
import { Context, type Effect, type Option } from "effect"

/** What the server of a business serves. */
export class BusinessConfigs extends Context.Tag("servers/BusinessConfigs")<BusinessConfigs, {
  /** None where the server belongs to no business. */
  readonly ofServer: (serverId: string) => Effect.Effect<Option.Option<ReadyConfig>>
}>() {}
