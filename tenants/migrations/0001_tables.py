import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.db.models.manager
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import tenants.roles
import tenants.sentences
import tenants.vault
from tenants.postgresql.row_security import EnableRowSecurity


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="CacheEntry",
            fields=[
                ("key", models.CharField(max_length=250, primary_key=True, serialize=False)),
                ("value", models.JSONField()),
                ("expires_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="ServiceEnvironment",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "name",
                    models.CharField(
                        max_length=40,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\\Z",
                                "Use lowercase letters a to z, digits and hyphens between them.",
                            )
                        ],
                    ),
                ),
                ("base_url", models.URLField()),
                ("client_id", models.CharField(max_length=200)),
                ("client_secret", tenants.vault.EncryptedText()),
                ("overrides", models.TextField(blank=True, default="")),
                ("changed_at", models.DateTimeField(auto_now=True)),
            ],
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                ("email", models.EmailField(max_length=254, unique=True, verbose_name="e-mail address")),
                ("name", models.CharField(blank=True, max_length=80, verbose_name="name")),
                ("language", models.CharField(blank=True, default="", max_length=5)),
                (
                    "theme",
                    models.CharField(
                        choices=[("auto", "Same as device"), ("light", "Light"), ("dark", "Dark")],
                        default="auto",
                        max_length=5,
                    ),
                ),
                (
                    "platform_role",
                    models.CharField(blank=True, choices=tenants.roles.platform_choices, default="", max_length=20),
                ),
                ("is_active", models.BooleanField(default=True)),
                ("is_staff", models.BooleanField(default=False)),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("email"), name="tenants_user_email_any_case"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AccountEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("sign_in", "Sign-in"),
                            ("proof", "Identity check"),
                            ("throttled", "Too many attempts"),
                            ("sign_out", "Sign-out"),
                            ("reset_asked", "Reset link requested"),
                            ("password_reset", "Password reset"),
                            ("password_changed", "Password changed"),
                            ("factor_added", "Sign-in method added"),
                            ("factor_removed", "Sign-in method removed"),
                            ("codes_made", "New recovery codes"),
                            ("sessions_ended", "Signed out everywhere else"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "method",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("password", "Password"),
                            ("totp", "Authenticator app"),
                            ("webauthn", "Passkey"),
                            ("recovery_codes", "Recovery code"),
                        ],
                        default="",
                        max_length=20,
                    ),
                ),
                ("address", models.GenericIPAddressField(null=True)),
                ("browser", models.CharField(blank=True, default="", max_length=60)),
                ("success", models.BooleanField(default=True)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["user", "-id"], name="tenants_account_newest")],
            },
        ),
        migrations.CreateModel(
            name="AccountMail",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("values", tenants.vault.EncryptedJSON()),
                ("language", models.CharField(max_length=5)),
                ("written_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("due_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True)),
                ("claimed_at", models.DateTimeField(null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SigningKey",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=64, unique=True)),
                ("public", models.BinaryField(max_length=32)),
                ("private", tenants.vault.EncryptedBytes()),
                ("made_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("retired_at", models.DateTimeField(null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.Value(1), condition=models.Q(("retired_at", None)), name="tenants_signing_key_one_in_use"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Tenant",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "slug",
                    models.CharField(
                        max_length=40,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\\Z",
                                "Use lowercase letters a to z, digits and hyphens between them.",
                            )
                        ],
                    ),
                ),
                ("name", models.CharField(max_length=80)),
                (
                    "colour",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("blue", "blue"),
                            ("teal", "teal"),
                            ("green", "green"),
                            ("orange", "orange"),
                            ("red", "red"),
                            ("pink", "pink"),
                            ("purple", "purple"),
                            ("indigo", "indigo"),
                            ("cyan", "cyan"),
                            ("yellow", "yellow"),
                        ],
                        max_length=10,
                    ),
                ),
                ("support_allowed", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "environment",
                    models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.serviceenvironment"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SupportSession",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("reason", models.CharField(max_length=200)),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "ended_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("ended_at", None)), fields=["user", "tenant"], name="tenants_support_open"
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Staff",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("role", models.CharField(choices=tenants.roles.tenant_choices, max_length=20)),
                ("is_active", models.BooleanField(default=True)),
                ("since", models.DateTimeField(auto_now_add=True)),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("tenant", "user"), name="tenants_staff_once")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="OAuthState",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.BinaryField(max_length=32, unique=True)),
                ("session_digest", models.BinaryField(max_length=32)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                (
                    "environment",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="tenants.serviceenvironment"),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "abstract": False,
                "base_manager_name": "reachable_objects",
                "default_manager_name": "objects",
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("email", models.EmailField(max_length=254)),
                ("role", models.CharField(choices=tenants.roles.tenant_choices, max_length=20)),
                ("token_digest", models.BinaryField(max_length=32, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "invited_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("tenant", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "abstract": False,
                "base_manager_name": "reachable_objects",
                "default_manager_name": "objects",
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Connection",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("none", "Not connected"),
                            ("connected", "Connected"),
                            ("broken", "Connection lost"),
                            ("revoked", "Revoked"),
                        ],
                        default="none",
                        max_length=10,
                    ),
                ),
                ("state_reason", models.CharField(blank=True, default="", max_length=200)),
                ("state_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("service_tenant_id", models.CharField(blank=True, default="", max_length=200)),
                ("service_tenant_name", models.CharField(blank=True, default="", max_length=200)),
                ("service_settings", models.JSONField(blank=True, default=dict)),
                ("access_token", tenants.vault.EncryptedText(null=True)),
                ("previous_token", tenants.vault.EncryptedText(null=True)),
                ("licence_key", tenants.vault.EncryptedText(null=True)),
                ("token_generation", models.PositiveIntegerField(default=0)),
                ("token_at", models.DateTimeField(null=True)),
                ("granted_at", models.DateTimeField(null=True)),
                ("reissue_round", models.PositiveIntegerField(default=0)),
                ("reissue_sent_at", models.DateTimeField(null=True)),
                ("reissue_outcome", models.CharField(blank=True, default="", max_length=20)),
                ("last_call_at", models.DateTimeField(null=True)),
                ("last_call_operation", models.CharField(blank=True, default="", max_length=40)),
                ("last_call_status", models.PositiveSmallIntegerField(null=True)),
                ("last_success_at", models.DateTimeField(null=True)),
                ("scopes_refused", models.JSONField(blank=True, default=list)),
                ("contracts_refused", models.JSONField(blank=True, default=list)),
                ("refusals", models.JSONField(blank=True, default=list)),
                ("limits_learned", models.JSONField(blank=True, default=dict)),
                (
                    "granted_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "environment",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.serviceenvironment",
                    ),
                ),
                ("tenant", models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("service_tenant_id", ""), _negated=True),
                        fields=("environment", "service_tenant_id"),
                        name="tenants_one_connection_per_service_tenant",
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="AuditKind",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("action", models.CharField(db_collation="C", max_length=60)),
                ("result", models.CharField(blank=True, default="", max_length=60)),
                ("target_kind", models.CharField(blank=True, default="", max_length=200)),
                ("names_target", models.BooleanField(default=False)),
                ("by_label", models.CharField(blank=True, default="", max_length=120)),
                ("in_support", models.BooleanField(default=False)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "action"], name="tenants_auditkind_action")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("by_label", models.CharField(blank=True, default="", max_length=120)),
                ("address", models.GenericIPAddressField(null=True)),
                ("action", models.CharField(max_length=60)),
                ("target", models.CharField(blank=True, db_collation="C", default="", max_length=200)),
                ("summary", tenants.sentences.SentenceField(blank=True, default="")),
                ("before", tenants.vault.EncryptedJSON(null=True)),
                ("after", tenants.vault.EncryptedJSON(null=True)),
                ("intent_id", models.CharField(blank=True, default="", max_length=40)),
                ("act_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("act_id", models.BigIntegerField(db_default=0)),
                (
                    "by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "kind",
                    models.ForeignKey(
                        db_constraint=False,
                        db_default=0,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenants.auditkind",
                    ),
                ),
                (
                    "support_session",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.PROTECT, to="tenants.supportsession"
                    ),
                ),
                (
                    "tenant",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, to="tenants.tenant"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["tenant", "-act_at", "-act_id"], name="tenants_audit_newest_act"),
                    models.Index(fields=["tenant", "kind", "-act_at", "-act_id"], name="tenants_audit_newest_of_kind"),
                    models.Index(fields=["tenant", "target", "-at"], name="tenants_audit_target"),
                    models.Index(
                        condition=models.Q(("intent_id", ""), _negated=True),
                        fields=["tenant", "intent_id"],
                        name="tenants_audit_intent",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("reachable_objects", django.db.models.manager.Manager()),
            ],
        ),
        EnableRowSecurity("tenants_staff"),
        EnableRowSecurity("tenants_invitation"),
        EnableRowSecurity("tenants_supportsession"),
        EnableRowSecurity("tenants_auditkind"),
        EnableRowSecurity("tenants_auditentry"),
        EnableRowSecurity("tenants_connection"),
        EnableRowSecurity("tenants_oauthstate"),
    ]
