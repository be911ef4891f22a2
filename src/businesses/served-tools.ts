import { type BusinessRow } from "./Business.ts"

/** What decides which tools a ready-made server has, and how it describes them: two texts differ when they may. */
export const servedTools = (
  { catalogSyncedAt, featureFlags, name, serverId, templateType }: Pick<
    BusinessRow,
    "catalogSyncedAt" | "featureFlags" | "name" | "serverId" | "templateType"
  >
): string => JSON.stringify([serverId, name, templateType, featureFlags, catalogSyncedAt !== null])
