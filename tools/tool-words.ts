import { type Toolset } from "./Tool.ts"

interface Group {
  readonly toolset: Toolset
  readonly about: string
  /** Tools whose name begins with one of these, or is one. */
  readonly tools: RegExp
  /** What people call the matter that the tools' own texts don't say. */
  readonly words: string
}

/** What find_tools knows of tools beside their own names and descriptions, and how it lists them when nothing matches. */
export const groups: ReadonlyArray<Group> = [
  {
    toolset: "deploy",
    about: "Projects and API keys",
    tools: /_projects?$|_api_keys?$|^whoami$/,
    words: "workspace folder organisation token credential secret permission share access rotate"
  },
  {
    toolset: "deploy",
    about: "Servers: create, change, stop, delete, who may use them",
    tools: /^(list|create|get|update|delete|start|stop|restart)_servers?$|^configure_server_auth$/,
    words:
      "host hosting app service machine container memory size cpu region sleep idle wake pause resume reboot turn " +
      "shut down take remove destroy network firewall outbound hosts public private protect oauth byoa share " +
      "access team readonly"
  },
  {
    toolset: "deploy",
    about: "Deployments: from an image or package to a running version",
    tools: /deploy|^rollback$/,
    words:
      "release ship launch publish run docker image container npm pypi package version upgrade revert undo previous " +
      "abort stop status progress failed broken history"
  },
  {
    toolset: "deploy",
    about: "Vulnerabilities of what is deployed",
    tools: /^list_vulnerabilities$/,
    words: "security secure insecure unsafe safe dangerous risk hole scan scanner cve patch image package running"
  },
  {
    toolset: "deploy",
    about: "Images that were pushed",
    tools: /_images?$/,
    words: "docker push upload uploaded container registry repository tag layer storage space remove clean delete"
  },
  {
    toolset: "deploy",
    about: "Private image registries: their users and passwords",
    tools: /_registr(y|ies)$/,
    words: "docker hub ghcr ecr gitlab container image pull login credential unauthorized denied token secret"
  },
  {
    toolset: "deploy",
    about: "Environment variables",
    tools: /_env$/,
    words: "secret configuration config setting variable password api key token credential environment"
  },
  {
    toolset: "deploy",
    about: "Logs and metrics",
    tools: /^get_logs$|_metrics(_series)?$/,
    words:
      "debug error crash trace output console stdout latency traffic monitor monitoring performance slow statistics why fail"
  },
  {
    toolset: "deploy",
    about: "OAuth clients, grants and tokens for hosted servers",
    tools: /_grants?$|^register_client$|^create_test_token$|^create_server_token$/,
    words:
      "login consent permission authorize authorise application connected app share unshare revoke access try connect " +
      "bearer jwt disconnect"
  },
  {
    toolset: "directory",
    about: "Businesses, their listings and their verification",
    tools: /_business(es)?$|_listing$|_visibility$|^verify_phone$|^confirm_phone$|^request_review$|^business_config$/,
    words:
      "shop store restaurant salon company profile opening hours closed holiday address contact publish unpublish hide " +
      "show unlist remove verify sms trust badge phone telephone website description settings"
  },
  {
    toolset: "directory",
    about: "Catalogs: items, prices, categories, imports from files",
    tools: /catalog|^import/,
    words:
      "menu dish product service price cost raise lower sold out available upload csv json file spreadsheet stock " +
      "section rename reorder undo"
  },
  {
    toolset: "directory",
    about: "The public directory",
    tools: /^directory_|^server_metadata$/,
    words:
      "find search discover lookup look business nearby near city category restaurant shop connect listing place where"
  },
  {
    toolset: "hub",
    about: "Listings as skills, their documents and what happens to them",
    tools: /^hub_(listing|get_capability|upload|skills|list_unmet)|^record_transaction$/,
    words:
      "analytics statistics views clicks visits traffic conversions orders demand gap guide instructions document " +
      "capability how use missing sale booking"
  },
  {
    toolset: "hub",
    about: "Hub keys",
    tools: /^hub_\w+_keys?$/,
    words: "agent developer token credential quota tier explorer builder partner"
  },
  {
    toolset: "hub",
    about: "Composites: several businesses as one",
    tools: /composite/,
    words: "group collection aggregate bundle many several businesses compare set share public private save query"
  },
  {
    toolset: "billing",
    about: "Plans, payment, usage and limits",
    tools: /plans?$|_billing$|_usage$|subscri/,
    words:
      "cost price pay money invoice upgrade downgrade quota limit budget spend subscription tier consumption requests " +
      "bill expensive free pro developer enterprise cancel how much left remaining"
  }
]

/** The group of a tool. Every tool has one: test/mcp/tool-list.test.ts. */
export const groupOf = (name: string) => groups.find(({ tools }) => tools.test(name))

/** What people say for what one tool does. */
export const wordsOf: Readonly<Record<string, string>> = {
  whoami: "who identity permissions logged account",
  update_project: "rename",
  delete_project: "remove destroy take down clean everything",
  create_api_key: "give share access server read only readonly permission rotate colleague",
  delete_api_key: "revoke remove rotate",
  create_server: "new make add host",
  get_server: "health status state show see url address asleep",
  update_server:
    "scale bigger change edit resize rename name memory firewall outbound network egress allow open host sleep idle",
  delete_server: "remove destroy take down for good",
  start_server: "resume turn on wake machine app",
  stop_server: "pause suspend turn off shut take down kill machine app",
  restart_server: "reboot reload bounce machine app",
  configure_server_auth: "colleague share private public who may use access allow email team protect secure owner only",
  deploy: "release ship run publish update upgrade",
  rollback: "undo revert previous version back",
  cancel_deployment: "abort stop end kill interrupt",
  wait_for_deployment: "finish done until poll ready",
  list_deployments: "history versions releases",
  get_deployment: "tools",
  add_registry: "login connect private image pull unauthorized",
  update_registry: "rotate edit password token expired",
  delete_registry: "remove logout forget",
  set_env: "add new secret variable configure rotate change key password",
  delete_env: "remove unset secret variable",
  get_logs: "debug error crash output why failed broken",
  get_server_metrics: "health latency traffic requests errors slow statistics",
  get_metrics_series: "traffic chart graph time history",
  create_test_token: "server client try connect bearer",
  create_server_token: "exchange bearer jwt connect call use business headless authorization",
  list_grants: "who has access connected apps permissions shared",
  revoke_grant: "disconnect unshare remove access app",
  register_client: "own app trust consent",
  create_business: "new add shop",
  update_business: "hours opening closed holiday address phone website profile edit",
  delete_business: "listing remove close shop take down",
  update_listing: "name description tags image photo composable",
  set_visibility:
    "delete publish unpublish hide show unlist list take down remove business shop store directory private",
  verify_phone: "verify business trust badge",
  request_review: "verify business premium trust badge",
  get_catalog: "export download menu prices read show",
  create_catalog_item: "add new dish product service",
  update_catalog_item: "move dish menu fix change price sold out available edit",
  delete_catalog_item: "remove dish product",
  import: "upload csv json file spreadsheet",
  import_revert: "undo take back",
  publish_business: "put online catalog menu shop new",
  directory_search: "find look up near restaurant shop",
  hub_listing_skill: "how use connect instructions",
  hub_upload_capability_doc: "skill document guide replace",
  hub_listing_analytics: "people viewed views clicks statistics",
  hub_list_unmet_searches: "people searched find demand missing",
  hub_browse_composites: "public show list see find",
  hub_list_composites: "own my show see",
  hub_get_composite: "show see members",
  hub_create_composite: "group combine ask several businesses restaurants shops one server together",
  hub_promote_composite: "publish public keep",
  hub_create_key: "make new agent",
  list_plans: "price cost compare tiers",
  get_plan: "limits quota left remaining used cost",
  get_billing: "cost spend spending money bill invoice paid pay",
  get_usage: "consumption days quota left remaining used",
  subscribe: "pay buy upgrade bigger",
  change_plan: "upgrade downgrade switch",
  cancel_subscription: "plan end stop paying downgrade free"
}
