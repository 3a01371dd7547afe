/** An event, and its actions in texts with a space between two. */
type Row = readonly [event: string, ...actions: readonly string[]];

/** Events and their actions, in the order of the names. */
const events = [
  ["branch_protection_configuration", "disabled enabled"],
  ["branch_protection_rule", "created deleted edited"],
  ["check_run", "completed created requested_action rerequested"],
  ["check_suite", "completed requested rerequested"],
  [
    "code_scanning_alert",
    "appeared_in_branch closed_by_user created fixed reopened reopened_by_user",
  ],
  ["commit_comment", "created"],
  ["create"],
  ["custom_property", "created deleted promote_to_enterprise updated"],
  ["custom_property_values", "updated"],
  ["delete"],
  [
    "dependabot_alert",
    "auto_dismissed auto_reopened created dismissed fixed reintroduced reopened",
  ],
  ["deploy_key", "created deleted"],
  ["deployment", "created"],
  ["deployment_protection_rule", "requested"],
  ["deployment_review", "approved rejected requested"],
  ["deployment_status", "created"],
  [
    "discussion",
    "answered category_changed closed created deleted edited labeled locked pinned reopened",
    "transferred unanswered unlabeled unlocked unpinned",
  ],
  ["discussion_comment", "created deleted edited"],
  ["fork"],
  ["vendor_app_authorization", "revoked"],
  ["gollum"],
  ["installation", "created deleted new_permissions_accepted suspend unsuspend"],
  ["installation_repositories", "added removed"],
  ["installation_target", "renamed"],
  ["issue_comment", "created deleted edited"],
  ["issue_dependencies", "blocked_by_added blocked_by_removed blocking_added blocking_removed"],
  [
    "issues",
    "assigned closed deleted demilestoned edited labeled locked milestoned opened pinned",
    "reopened transferred typed unassigned unlabeled unlocked unpinned untyped",
  ],
  ["label", "created deleted edited"],
  ["marketplace_purchase", "cancelled changed pending_change pending_change_cancelled purchased"],
  ["member", "added edited removed"],
  ["membership", "added removed"],
  ["merge_group", "checks_requested destroyed"],
  ["meta", "deleted"],
  ["milestone", "closed created deleted edited opened"],
  ["org_block", "blocked unblocked"],
  ["organization", "deleted member_added member_invited member_removed renamed"],
  ["package", "published updated"],
  ["page_build"],
  ["personal_access_token_request", "approved cancelled created denied"],
  ["ping"],
  ["project", "closed created deleted edited reopened"],
  ["project_card", "converted created deleted edited moved"],
  ["project_column", "created deleted edited moved"],
  ["projects_v2", "closed created deleted edited reopened"],
  ["projects_v2_item", "archived converted created deleted edited reordered restored"],
  ["projects_v2_status_update", "created deleted edited"],
  ["public"],
  [
    "pull_request",
    "assigned auto_merge_disabled auto_merge_enabled closed converted_to_draft demilestoned",
    "dequeued edited enqueued labeled locked milestoned opened ready_for_review reopened",
    "review_request_removed review_requested synchronize unassigned unlabeled unlocked",
  ],
  ["pull_request_review", "dismissed edited submitted"],
  ["pull_request_review_comment", "created deleted edited"],
  ["pull_request_review_thread", "resolved unresolved"],
  ["push"],
  ["registry_package", "published updated"],
  ["release", "created deleted edited prereleased published released unpublished"],
  [
    "repository",
    "archived created deleted edited privatized publicized renamed transferred unarchived",
  ],
  ["repository_advisory", "published reported"],
  ["repository_dispatch", "sample"],
  ["repository_import"],
  ["repository_ruleset", "created deleted edited"],
  ["repository_vulnerability_alert", "create dismiss reopen resolve"],
  [
    "secret_scanning_alert",
    "assigned created publicly_leaked reopened resolved unassigned validated",
  ],
  ["secret_scanning_alert_location", "created"],
  ["secret_scanning_scan", "completed"],
  ["security_advisory", "published updated withdrawn"],
  ["security_and_analysis"],
  ["sponsorship", "cancelled created edited pending_cancellation pending_tier_change tier_changed"],
  ["star", "created deleted"],
  ["status"],
  ["sub_issues", "parent_issue_added parent_issue_removed sub_issue_added sub_issue_removed"],
  ["team", "added_to_repository created deleted edited removed_from_repository"],
  ["team_add"],
  ["watch", "started"],
  ["workflow_dispatch"],
  ["workflow_job", "completed in_progress queued waiting"],
  ["workflow_run", "completed in_progress requested"],
] as const;

/** Names of rows, in order. Five at once: the compiler makes a type per length. */
type Names<Rows extends readonly Row[]> = Rows extends readonly [
  infer A extends Row,
  infer B extends Row,
  infer C extends Row,
  infer D extends Row,
  infer E extends Row,
  ...infer Rest extends readonly Row[],
]
  ? readonly [
      ...NamesOf<A>,
      ...NamesOf<B>,
      ...NamesOf<C>,
      ...NamesOf<D>,
      ...NamesOf<E>,
      ...Names<Rest>,
    ]
  : Rows extends readonly [infer First extends Row, ...infer Rest extends readonly Row[]]
    ? readonly [...NamesOf<First>, ...Names<Rest>]
    : readonly [];

/** The names of one row: the event, and one for each action. */
type NamesOf<OneRow extends Row> = OneRow extends readonly [
  infer Event extends string,
  ...infer Actions extends readonly string[],
]
  ? readonly [Event, ...Qualified<Event, Words<Actions>>]
  : never;

type Qualified<Event extends string, Actions extends readonly string[]> = {
  readonly [Index in keyof Actions]: `${Event}.${Actions[Index]}`;
};

/** The words of some texts, in their order. */
type Words<
  Texts extends readonly string[],
  Before extends readonly string[] = readonly [],
> = Texts extends readonly [infer First extends string, ...infer Rest extends readonly string[]]
  ? First extends `${infer Word} ${infer Others}`
    ? Words<readonly [Others, ...Rest], readonly [...Before, Word]>
    : Words<Rest, readonly [...Before, First]>
  : Before;

/** Every event name of the default vendor and `<event>.<action>`; 323, frozen, in order. */
export const emitterEventNames: Names<typeof events> = /* @__PURE__ */ namesOf(events);

/** A name in {@link emitterEventNames}. */
export type EmitterWebhookEventName = NameOf<(typeof events)[number]>;

/** The names of one row. Not by way of the list, which costs the compiler more. */
type NameOf<OneRow extends Row> = OneRow extends readonly [
  infer Event extends string,
  ...infer Actions extends readonly string[],
]
  ? Event | `${Event}.${Word<Actions[number]>}`
  : never;

type Word<Text extends string> = Text extends `${infer First} ${infer Others}`
  ? First | Word<Others>
  : Text;

function namesOf(rows: readonly Row[]): typeof emitterEventNames {
  const names = rows.flatMap(([event, ...actions]) => [
    event,
    ...actions.flatMap((text) => text.split(" ").map((action) => `${event}.${action}`)),
  ]);
  // The type says the same of each row.
  return Object.freeze(names) as unknown as typeof emitterEventNames;
}
