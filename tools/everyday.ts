/**
 * The tools that the door lists by default, in this order, of those that the credential may call: what everyday jobs
 * need. All others are found by find_tools (docs/decisions/tool-list.md).
 */
export const everyday = [
  "whoami",
  "list_projects",
  "create_project",
  "list_servers",
  "create_server",
  "get_server",
  "set_env",
  "deploy",
  "wait_for_deployment",
  "get_deployment",
  "rollback",
  "get_logs",
  "create_test_token",
  "publish_business",
  "list_businesses",
  "get_catalog",
  "update_catalog_item",
  "import",
  "import_confirm",
  "directory_search",
  "hub_composites",
  "hub_browse_composites",
  "hub_listing_skill",
  "create_server_token",
  "list_plans",
  "get_plan"
] as const
