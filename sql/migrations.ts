import platform from "#sql/migrations/0001_platform.ts"
import oauth from "#sql/migrations/0002_oauth.ts"
import businesses from "#sql/migrations/0003_businesses.ts"
import directorySearch from "#sql/migrations/0004_directory_search.ts"
import directoryIndex from "#sql/migrations/0005_directory_index.ts"
import listingEvents from "#sql/migrations/0006_listing_events.ts"
import publications from "#sql/migrations/0007_publications.ts"
import limits from "#sql/migrations/0008_limits.ts"
import hostsAndSecretKeys from "#sql/migrations/0009_hosts_and_secret_keys.ts"
import keysOfGrants from "#sql/migrations/0010_keys_of_grants.ts"
import signupIdempotency from "#sql/migrations/0011_signup_idempotency.ts"
import jobs from "#sql/migrations/0012_jobs.ts"
import listingCategories from "#sql/migrations/0013_listing_categories.ts"
import directoryWords from "#sql/migrations/0014_directory_words.ts"
import replacedCatalogs from "#sql/migrations/0015_replaced_catalogs.ts"
import hubKeys from "#sql/migrations/0016_hub_keys.ts"
import idempotencyCheckpoints from "#sql/migrations/0017_idempotency_checkpoints.ts"
import capabilityDocuments from "#sql/migrations/0018_capability_documents.ts"
import unmetSearches from "#sql/migrations/0019_unmet_searches.ts"
import deploymentHandshakes from "#sql/migrations/0020_deployment_handshakes.ts"
import serverHealth from "#sql/migrations/0021_server_health.ts"
import composites from "#sql/migrations/0022_composites.ts"
import ownComposites from "#sql/migrations/0023_own_composites.ts"
import callableComposites from "#sql/migrations/0024_callable_composites.ts"
import agentAccessAndFeed from "#sql/migrations/0025_agent_access_and_feed.ts"
import staleTools from "#sql/migrations/0026_stale_tools.ts"
import compositeCategories from "#sql/migrations/0027_composite_categories.ts"
import subscriptions from "#sql/migrations/0028_subscriptions.ts"
import usageByDay from "#sql/migrations/0029_usage_by_day.ts"
import usageByPeriod from "#sql/migrations/0030_usage_by_period.ts"
import customerAttempts from "#sql/migrations/0031_customer_attempts.ts"
import serverEgress from "#sql/migrations/0032_server_egress.ts"
import healthGate from "#sql/migrations/0033_health_gate.ts"
import packages from "#sql/migrations/0034_packages.ts"
import draining from "#sql/migrations/0035_draining.ts"
import sleepingServers from "#sql/migrations/0036_sleeping_servers.ts"
import { type SqlClient } from "@effect/sql"
import { type Effect } from "effect"
import machineStarts from "./migrations/0037_machine_starts.ts"
import packageScripts from "./migrations/0038_package_scripts.ts"
import restartingServers from "./migrations/0039_restarting_servers.ts"
import serverRequests from "./migrations/0040_server_requests.ts"
import planChanges from "./migrations/0041_plan_changes.ts"
import machineMetering from "./migrations/0042_machine_metering.ts"
import compositeLabels from "./migrations/0043_composite_labels.ts"
import imageScans from "./migrations/0044_image_scans.ts"
import toolCalls from "./migrations/0045_tool_calls.ts"
import replacedVariables from "./migrations/0046_replaced_variables.ts"
import imageRegistries from "./migrations/0047_image_registries.ts"
import uploads from "./migrations/0048_uploads.ts"
import catalogWords from "./migrations/0049_catalog_words.ts"
import mirroredImages from "./migrations/0050_mirrored_images.ts"
import compositeBroadLabels from "./migrations/0051_composite_broad_labels.ts"
import failedByDeployment from "./migrations/0052_failed_by_deployment.ts"
import registryCredentialNames from "./migrations/0053_registry_credential_names.ts"
import compositeTimes from "./migrations/0054_composite_times.ts"
import grantsOfComposites from "./migrations/0055_grants_of_composites.ts"
import paymentPrices from "./migrations/0058_payment_prices.ts"
import guestRequests from "./migrations/0060_guest_requests.ts"
import toldLimits from "./migrations/0061_told_limits.ts"
import hubAccountDays from "./migrations/0062_hub_account_days.ts"
import machineNode from "./migrations/0064_machine_node.ts"
import idempotencyHosts from "./migrations/0065_idempotency_hosts.ts"
import romanisedNames from "./migrations/0066_romanised_names.ts"
import newSenders from "./migrations/0067_new_senders.ts"
import guestSeconds from "./migrations/0068_guest_seconds.ts"

/**
 * Every migration by its file's name (`NNNN_name`), run in the order of the numbers. A record, not a folder read at
 * run time, so that the bundle contains them. A released migration is never edited or renumbered.
 */
export const migrations: Record<string, Effect.Effect<void, unknown, SqlClient.SqlClient>> = {
  "0001_platform": platform,
  "0002_oauth": oauth,
  "0003_businesses": businesses,
  "0004_directory_search": directorySearch,
  "0005_directory_index": directoryIndex,
  "0006_listing_events": listingEvents,
  "0007_publications": publications,
  "0008_limits": limits,
  "0009_hosts_and_secret_keys": hostsAndSecretKeys,
  "0010_keys_of_grants": keysOfGrants,
  "0011_signup_idempotency": signupIdempotency,
  "0012_jobs": jobs,
  "0013_listing_categories": listingCategories,
  "0014_directory_words": directoryWords,
  "0015_replaced_catalogs": replacedCatalogs,
  "0016_hub_keys": hubKeys,
  "0017_idempotency_checkpoints": idempotencyCheckpoints,
  "0018_capability_documents": capabilityDocuments,
  "0019_unmet_searches": unmetSearches,
  "0020_deployment_handshakes": deploymentHandshakes,
  "0021_server_health": serverHealth,
  "0022_composites": composites,
  "0023_own_composites": ownComposites,
  "0024_callable_composites": callableComposites,
  "0025_agent_access_and_feed": agentAccessAndFeed,
  "0026_stale_tools": staleTools,
  "0027_composite_categories": compositeCategories,
  "0028_subscriptions": subscriptions,
  "0029_usage_by_day": usageByDay,
  "0030_usage_by_period": usageByPeriod,
  "0031_customer_attempts": customerAttempts,
  "0032_server_egress": serverEgress,
  "0033_health_gate": healthGate,
  "0034_packages": packages,
  "0035_draining": draining,
  "0036_sleeping_servers": sleepingServers,
  "0037_machine_starts": machineStarts,
  "0038_package_scripts": packageScripts,
  "0039_restarting_servers": restartingServers,
  "0040_server_requests": serverRequests,
  "0041_plan_changes": planChanges,
  "0042_machine_metering": machineMetering,
  "0043_composite_labels": compositeLabels,
  "0044_image_scans": imageScans,
  "0045_tool_calls": toolCalls,
  "0046_replaced_variables": replacedVariables,
  "0047_image_registries": imageRegistries,
  "0048_uploads": uploads,
  "0049_catalog_words": catalogWords,
  "0050_mirrored_images": mirroredImages,
  "0051_composite_broad_labels": compositeBroadLabels,
  "0052_failed_by_deployment": failedByDeployment,
  "0053_registry_credential_names": registryCredentialNames,
  "0054_composite_times": compositeTimes,
  "0055_grants_of_composites": grantsOfComposites,
  "0058_payment_prices": paymentPrices,
  "0060_guest_requests": guestRequests,
  "0061_told_limits": toldLimits,
  "0062_hub_account_days": hubAccountDays,
  "0064_machine_node": machineNode,
  "0065_idempotency_hosts": idempotencyHosts,
  "0066_romanised_names": romanisedNames,
  "0067_new_senders": newSenders,
  "0068_guest_seconds": guestSeconds
}
