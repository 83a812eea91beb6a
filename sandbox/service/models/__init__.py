"""Tables of the sandbox."""

from .access import AccessToken, AuthorizationCode, Client
from .guests import Guest, TemporaryUse
from .histories import Delivery, History
from .people import Face, Group, Member, ProfileImage
from .places import Area, Camera, CameraUse, KeyBox, KeyUse, PassController
from .records import Call, Command, InjectedFault, Mail, RateWindow
from .requests import BulkRequest, DeviceRequest, FaceRequest
from .tenants import Administrator, Settings, Tenant

__all__ = [
    "AccessToken",
    "Administrator",
    "Area",
    "AuthorizationCode",
    "BulkRequest",
    "Call",
    "Camera",
    "CameraUse",
    "Client",
    "Command",
    "Delivery",
    "DeviceRequest",
    "Face",
    "FaceRequest",
    "Group",
    "Guest",
    "History",
    "InjectedFault",
    "KeyBox",
    "KeyUse",
    "Mail",
    "Member",
    "PassController",
    "ProfileImage",
    "RateWindow",
    "Settings",
    "TemporaryUse",
    "Tenant",
]
