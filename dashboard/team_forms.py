"""What people enter about teams, tokens and themselves."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from allauth.account.forms import LoginForm
from django import forms
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext_lazy as _

from dashboard.widgets import NamesSelect
from drift.models import ApiToken, Role, User


class SignInForm(LoginForm):  # type: ignore[misc]
    """allauth's, with labels in place of placeholders, which vanish when one types."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = _("User name or e-mail address")
        for field in self.fields.values():
            field.widget.attrs.pop("placeholder", None)


class TeamForm(forms.Form):
    name = forms.CharField(max_length=80, label=_("Name of the team"))


class InvitationForm(forms.Form):
    email = forms.EmailField(label=_("E-mail address"))
    role = forms.ChoiceField(choices=Role.choices, initial=Role.EDITOR, label=_("Role"))


class TokenForm(forms.Form):
    LIVES = (("30", _("30 days")), ("90", _("90 days")), ("365", _("a year")), ("", _("until it is revoked")))

    name = forms.CharField(max_length=80, label=_("What it is for"), help_text=_("For example: nightly evals"))
    scope = forms.ChoiceField(choices=ApiToken.Scope.choices, label=_("May"))
    days = forms.ChoiceField(choices=LIVES, required=False, initial="90", label=_("Valid for"))


class LinkForm(forms.Form):
    name = forms.CharField(max_length=80, label=_("Who it is for"))


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = User
        fields = ("email", "time_zone", "language")
        labels = {"email": _("E-mail address"), "time_zone": _("Time zone"), "language": _("Language")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zones = [("", _("the browser's"))] + [(zone, zone) for zone in sorted(available_timezones())]
        self.fields["time_zone"] = forms.ChoiceField(
            choices=zones, required=False, label=_("Time zone"), widget=NamesSelect
        )
        languages = [("", _("follow the browser")), *settings.LANGUAGES]
        self.fields["language"] = forms.ChoiceField(
            choices=languages, required=False, label=_("Language"), widget=NamesSelect
        )


class NewAccountForm(forms.Form):
    """The account that an invited person makes. The address is the invitation's."""

    username = forms.CharField(max_length=150, label=_("User name"))
    password = forms.CharField(label=_("Password"), widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}))

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        User.username_validator(name)
        if User.objects.filter(username__iexact=name).exists():
            raise forms.ValidationError(_("That name is taken. Choose another."))
        return name

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password)
        return password
