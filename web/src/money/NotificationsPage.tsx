import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schemas, unwrap } from "../api/client";
import { useProject } from "../api/session";
import { OneTimeSecret, SettingsLayout } from "../settings/SettingsLayout";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { Field, Select } from "../ui/Field";
import { Form, FormError, useFields } from "../ui/Form";
import { Loaded } from "../ui/Loaded";
import { useToast } from "../ui/Toast";
import styles from "./Budget.module.css";
import { notificationsQuery } from "./queries";

type Shown = Schemas["NotificationSettingsView"];
type Change = Schemas["NotificationChange"];

/** Who is told of alerts, and when not. */
export function NotificationsPage() {
  const project = useProject();
  const shown = useQuery(notificationsQuery(project.id));
  return (
    <SettingsLayout>
      <div className={styles.line}>
        <h2>Who is told of alerts</h2>
        <SendTestButton />
      </div>
      <Loaded query={shown} what="who is told">
        {(it) => (
          <div className={styles.form}>
            <EmailForm key={JSON.stringify(it.mail)} shown={it} />
            <WebhookForm shown={it} />
            <QuietHoursForm key={JSON.stringify(it.quiet_hours)} shown={it} />
          </div>
        )}
      </Loaded>
    </SettingsLayout>
  );
}

function useChange(text: string) {
  const project = useProject();
  const queries = useQueryClient();
  const toast = useToast();
  return useMutation({
    mutationFn: (body: Change) => unwrap(api(project.id).PATCH("/api/v1/notifications", { body })),
    onSuccess: (shown) => {
      // Its secret is shown once, and kept nowhere.
      const webhook = shown.webhook && { ...shown.webhook, secret: undefined };
      queries.setQueryData(notificationsQuery(project.id).queryKey, { ...shown, webhook });
      toast(text);
    },
  });
}

function SendTestButton() {
  const project = useProject();
  const toast = useToast();
  const trying = useMutation({
    mutationFn: () => unwrap(api(project.id).POST("/api/v1/notifications/try")),
    onSuccess: () => toast("A trial is on its way to everybody."),
  });
  return (
    <div>
      <Button onClick={() => trying.mutate()} disabled={trying.isPending}>
        Send a trial
      </Button>
      <FormError error={trying.error} />
    </div>
  );
}

const WHOM = [
  { value: "owners", label: "the project's owners" },
  { value: "named", label: "those named below" },
  { value: "nobody", label: "nobody" },
];

const whomOf = ({ mail }: Shown): string =>
  mail == null ? "owners" : mail.length === 0 ? "nobody" : "named";

function EmailForm({ shown }: { shown: Shown }) {
  const change = useChange("Who gets e-mail is changed.");
  const [{ whom, addresses }, bind] = useFields({
    whom: whomOf(shown),
    addresses: (shown.mail ?? []).join(", "),
  });
  const named = addresses.split(/[\s,;]+/).filter((it) => it !== "");
  const mail = whom === "owners" ? null : whom === "nobody" ? [] : named;
  const asked = { ...change, mutate: () => change.mutate({ mail }) };
  return (
    <section>
      <h3>E-mail</h3>
      {!shown.can_mail && (
        <p className={styles.soft}>
          This server has no way to send e-mail: `mail` in its .jurist/config.yaml says how.
        </p>
      )}
      <Form asked={asked} does="Save" isIncomplete={whom === "named" && named.length === 0}>
        <Select label="Goes to" options={WHOM} {...bind("whom")} />
        {whom === "named" && (
          <Field label="Addresses" hint="With commas between them." required {...bind("addresses")} />
        )}
      </Form>
    </section>
  );
}

function WebhookForm({ shown }: { shown: Shown }) {
  const [address, setAddress] = useState("");
  const setting = useChange("The webhook is set.");
  const taking = useChange("The webhook is taken away.");
  const [secret, setSecret] = useState<string | null>(null);
  const asked = {
    ...setting,
    mutate: () =>
      setting.mutate(
        { webhook: address.trim() },
        {
          onSuccess: (it) => {
            setAddress("");
            setSecret(it.webhook?.secret ?? null);
          },
        },
      ),
  };
  return (
    <section>
      <h3>Webhook</h3>
      {shown.webhook && (
        <p className={styles.line}>
          <span>
            Signed requests go to <b>{shown.webhook.host}</b>.
          </span>
          <Button look="danger" onClick={() => taking.mutate({ webhook: null })} disabled={taking.isPending}>
            Take it away
          </Button>
        </p>
      )}
      <FormError error={taking.error} />
      <Form asked={asked} does={shown.webhook ? "Replace it" : "Set it"} isIncomplete={address.trim() === ""}>
        <Field
          label="Address"
          type="url"
          hint="It is a secret: kept encrypted, and not shown again."
          placeholder="https://hooks.example.org/jurist"
          value={address}
          onChange={(it) => setAddress(it.target.value)}
        />
      </Form>
      {secret && (
        <Dialog title="The signing secret" onClose={() => setSecret(null)}>
          <OneTimeSecret
            secret={secret}
            about="Requests are signed with it. This is the only time it is shown; setting the webhook again makes a new one."
          />
          <div className={styles.line}>
            <CopyButton text={secret} />
            <Button onClick={() => setSecret(null)}>Done</Button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function QuietHoursForm({ shown }: { shown: Shown }) {
  const change = useChange("Quiet hours are changed.");
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [values, bind] = useFields({
    from: shown.quiet_hours?.from ?? "22:00",
    until: shown.quiet_hours?.until ?? "07:00",
    zone: shown.quiet_hours?.zone ?? own,
  });
  const asked = { ...change, mutate: () => change.mutate({ quiet_hours: values }) };
  return (
    <section>
      <h3>Quiet hours</h3>
      <Form asked={asked} does={shown.quiet_hours ? "Change them" : "Keep quiet then"}>
        <div className={styles.row}>
          <Field label="From" type="time" required {...bind("from")} />
          <Field label="Until" type="time" required {...bind("until")} />
          <Field label="Time zone" hint="By name, or such as +02:00." required {...bind("zone")} />
        </div>
      </Form>
      {shown.quiet_hours && (
        <Button look="link" onClick={() => change.mutate({ quiet_hours: null })} disabled={change.isPending}>
          Tell at any hour
        </Button>
      )}
    </section>
  );
}
