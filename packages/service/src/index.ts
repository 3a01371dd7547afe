export { ServiceError, StartError } from "./errors.ts";
export {
  defineService,
  type Service,
  type ServiceOptions,
  type ServiceTypes,
} from "./define-service.ts";
export {
  backgroundJob,
  type BackgroundJob,
  type BackgroundJobOptions,
} from "./jobs/background-job.ts";
export { defineReceiver, type Receiver } from "./receivers/define-receiver.ts";
export type {
  DocumentChange,
  DocumentMigration,
  MigratedFields,
} from "./migrations/document-migration.ts";
export type { QueuedMailer, ServiceMail } from "./mail/queued-mailer.ts";
export { runService } from "./run-service.ts";
export type { ServiceParts } from "./service-parts.ts";
export {
  type Config,
  defineConfig,
  type InService,
  type SettingsOf,
  type SettingsShape,
} from "./settings/define-config.ts";
export { type Setting } from "./settings/setting.ts";
export { environmentExample, withRandomSecrets } from "./settings/environment-example.ts";
export {
  accountSettings,
  type AccountSettings,
  mailSettings,
  type MailSettings,
  serverSettings,
  type ServerSettings,
  webhookSettings,
  type WebhookSettings,
} from "./settings/service-settings.ts";
export { openService, type OpenOptions, type OpenService } from "./open-service.ts";
export { readStartSettings, type StartSettings } from "./settings/start-settings.ts";
