import type { ReadyConfig } from "#src/format/ReadyConfig.ts"
import { Struct } from "effect"

/** The configuration in use: its credentials are dropped before the first request. */
export type ServedConfig = Omit<ReadyConfig, "integrations">

export const withoutCredentials = (config: ReadyConfig): ServedConfig => Struct.omit(config, "integrations")
