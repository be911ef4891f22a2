import { type ReadyConfig } from "#src/format/ReadyConfig.ts"
import { contactOf } from "./business-columns.ts"
import { type Source } from "./ReadyConfigsRepo.ts"

/** Custom fields answer the questions that the flag `faq` turns on. */
const factsOf = ({ customFields, featureFlags }: Source) =>
  featureFlags.faq && Object.keys(customFields).length > 0 ? { customFields } : {}

/** Builds a business's configuration (contract: ReadyConfig). Missing texts are `""`, missing coordinates null. */
export const readyConfigOf = (
  source: Source & { readonly serverId: string },
  integrations: Readonly<Record<string, unknown>> | undefined
): ReadyConfig => {
  const { analytics, catalog } = source
  return {
    version: "2.0",
    serverId: source.serverId,
    templateType: source.templateType,
    business: {
      name: source.name,
      description: source.description,
      category: source.category === "" ? source.industry : source.category,
      ...factsOf(source)
    },
    contact: contactOf(source),
    hours: source.hours,
    ...(catalog === null ? {} : { catalog }),
    featureFlags: source.featureFlags,
    ...(integrations === undefined ? {} : { integrations }),
    ...(analytics === null ? {} : { analytics })
  }
}
